import type { ReactNode } from 'react';
import { ShownOnce } from '../../ui/shown-once.tsx';

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** The codes that let one in without the app, each once. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps): ReactNode {
  return (
    <ShownOnce label="Recovery codes" secret={codes.join('\n')} onDone={onClose}>
      <p>Each of these stands for a code of the app once, for when that is lost.</p>
    </ShownOnce>
  );
}

import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

export interface ShownOnceProps {
  readonly label: string;
  readonly secret: string;
  readonly onDone: () => void;
  /** What it is for. */
  readonly children?: ReactNode;
}

/** A secret that is not to be had again, until it was taken. */
export function ShownOnce({ label, secret, onDone, children }: ShownOnceProps): ReactNode {
  return (
    <div className="stack">
      {children}
      <p className="faint">Copy it now: it is shown this once.</p>
      <textarea
        className="mono"
        aria-label={label}
        readOnly
        value={secret}
        rows={secret.split('\n').length}
        // Where a page has no clipboard, it is selected for the keys that copy.
        onFocus={({ target }) => target.select()}
      />
      <div className="row">
        <button type="button" className="primary" onClick={onDone}>
          Done
        </button>
        <CopyButton text={secret} />
      </div>
    </div>
  );
}

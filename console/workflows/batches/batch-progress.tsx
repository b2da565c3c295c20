import type { ReactNode } from 'react';
import { formatCount } from '../../ui/text.ts';
import type { Batch } from './batch.ts';
import './batch-progress.css';

const parts = ['completed', 'failed', 'cancelled', 'skipped', 'pending'] as const;

/** How many items stand how: as a bar, and in words. */
export function BatchProgress({ batch }: { readonly batch: Batch }): ReactNode {
  const { progress, totalItems } = batch;
  const shown = parts.filter((part) => progress[part] > 0);
  const text = shown.map((part) => `${formatCount(progress[part])} ${part}`).join(', ');
  return (
    <div className="batch-progress">
      <div className="batch-bar" aria-hidden>
        {shown.map((part) => (
          <span key={part} className={part} style={{ flexGrow: progress[part] / totalItems }} />
        ))}
      </div>
      <span className="faint">{text}</span>
    </div>
  );
}

import type { ReactNode } from 'react';
import { formatCount } from './text.ts';

export interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  /** All that match, whatever the page. */
  readonly total: number;
  readonly onMove: (offset: number) => void;
}

/** Where in a long list one is, and the ways on and back; nothing where all is in sight. */
export function Pager({ offset, limit, total, onMove }: PagerProps): ReactNode {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav className="row" aria-label="Pages">
      <button
        type="button"
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - limit))}
      >
        Previous
      </button>
      <span className="faint">
        {formatCount(Math.min(offset + 1, last))} to {formatCount(last)} of {formatCount(total)}
      </span>
      <button type="button" disabled={last >= total} onClick={() => onMove(offset + limit)}>
        Next
      </button>
    </nav>
  );
}

import type { ReactNode } from 'react';
import { formatCount } from '../../ui/text.ts';

export interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly onTurn: (offset: number) => void;
}

/** Turns the pages of a list; nothing where all fits on one. */
export function Pager({ offset, limit, total, onTurn }: PagerProps): ReactNode {
  if (total <= limit && offset === 0) return null;
  return (
    <nav className="row" aria-label="Pages">
      <button type="button" disabled={offset === 0} onClick={() => onTurn(offset - limit)}>
        Newer
      </button>
      <span className="faint">
        {formatCount(offset + 1)} to {formatCount(Math.min(offset + limit, total))} of{' '}
        {formatCount(total)}
      </span>
      <button
        type="button"
        disabled={offset + limit >= total}
        onClick={() => onTurn(offset + limit)}
      >
        Older
      </button>
    </nav>
  );
}

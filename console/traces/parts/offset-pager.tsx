import type { ReactNode } from 'react';
import { formatCount } from '../../ui/text.ts';

export interface OffsetPagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly onOffset: (offset: number) => void;
}

/** The way through a list that is longer than a page; nothing where it is not. */
export function OffsetPager({ offset, limit, total, onOffset }: OffsetPagerProps): ReactNode {
  if (total <= limit && offset === 0) return null;
  return (
    <div className="row pager">
      <span className="faint">
        {formatCount(offset + 1)} to {formatCount(Math.min(total, offset + limit))} of{' '}
        {formatCount(total)}
      </span>
      <span className="actions">
        <button
          type="button"
          disabled={offset === 0}
          onClick={() => onOffset(Math.max(0, offset - limit))}
        >
          Previous
        </button>
        <button
          type="button"
          disabled={offset + limit >= total}
          onClick={() => onOffset(offset + limit)}
        >
          Next
        </button>
      </span>
    </div>
  );
}

import type { ReactNode } from 'react';
import { pageSizes } from './filters.ts';

export interface PagerProps {
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly onPage: (page: number, size: number) => void;
  /** How many there are, in words. */
  readonly children: ReactNode;
}

/** The way through a long list. */
export function Pager({ page, size, total, onPage, children }: PagerProps): ReactNode {
  const pages = Math.max(1, Math.ceil(total / size));
  return (
    <div className="row pager">
      <span className="faint">{children}</span>
      <span className="actions">
        <label className="row">
          Rows
          <select value={size} onChange={({ target }) => onPage(1, Number(target.value))}>
            {pageSizes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="button" disabled={page <= 1} onClick={() => onPage(page - 1, size)}>
          Previous
        </button>
        <span>
          Page {page} of {Math.max(page, pages)}
        </span>
        <button type="button" disabled={page >= pages} onClick={() => onPage(page + 1, size)}>
          Next
        </button>
      </span>
    </div>
  );
}

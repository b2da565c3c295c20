import type { ReactNode, SyntheticEvent } from 'react';

export interface Column<Row> {
  /** Blank above what can be done with a row: who sees it needs no word there. */
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand at the right. */
  readonly isFigure?: boolean;
}

export interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Makes rows open something. */
  readonly onOpen?: (row: Row) => void;
}

/** Rows under named columns. A row that opens leaves its links, buttons and fields to themselves. */
export function Table<Row>({ columns, rows, keyOf, onOpen }: TableProps<Row>): ReactNode {
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            {columns.map(({ title, isFigure }) => (
              <th key={title} scope="col" className={isFigure ? 'figure' : undefined}>
                {title === '' ? <span className="unseen">Actions</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={onOpen ? 'opens' : undefined}
              tabIndex={onOpen ? 0 : undefined}
              onClick={onOpen && ((event) => isPlain(event) && onOpen(row))}
              onKeyDown={
                onOpen && ((event) => event.key === 'Enter' && isPlain(event) && onOpen(row))
              }
            >
              {columns.map(({ title, cell, isFigure }) => (
                <td key={title} className={isFigure ? 'figure' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const controls = 'a, button, input, select, textarea, label, summary, dialog';

/** Whether something happened to a row itself, and not to a control in it. */
function isPlain({ target }: SyntheticEvent): boolean {
  return !(target instanceof Element && target.closest(controls));
}

import { useMemo, useState, type ReactNode } from 'react';

export interface SortableColumn<Row> {
  readonly title: string;
  /** What it is sorted by, and shown where there is no `cell`. */
  readonly value: (row: Row) => number | string;
  readonly cell?: (row: Row) => ReactNode;
}

export interface SortableTableProps<Row> {
  readonly columns: readonly SortableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The title of the column to begin with; its largest first. */
  readonly sortedBy: string;
  readonly isChosen?: (row: Row) => boolean;
}

/** Rows that their columns' titles sort. */
export function SortableTable<Row>(props: SortableTableProps<Row>): ReactNode {
  const { columns, rows, keyOf, sortedBy, isChosen } = props;
  const [order, setOrder] = useState({ title: sortedBy, isRising: false });
  const sorted = useMemo(() => {
    const column = columns.find(({ title }) => title === order.title);
    if (!column) return rows;
    const sign = order.isRising ? 1 : -1;
    return rows.toSorted((one, other) => sign * compare(column.value(one), column.value(other)));
  }, [columns, rows, order]);
  return (
    <div className="wide">
      <table className="table sortable">
        <thead>
          <tr>
            {columns.map(({ title, value }) => (
              <th
                key={title}
                scope="col"
                className={rows[0] && typeof value(rows[0]) === 'number' ? 'figure' : undefined}
                aria-sort={sortOf(title, order)}
              >
                <button
                  type="button"
                  onClick={() =>
                    setOrder({ title, isRising: order.title === title && !order.isRising })
                  }
                >
                  {title}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={keyOf(row)} className={isChosen?.(row) ? 'chosen' : undefined}>
              {columns.map(({ title, value, cell }) => (
                <td key={title} className={typeof value(row) === 'number' ? 'figure' : undefined}>
                  {cell ? cell(row) : value(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Order {
  readonly title: string;
  readonly isRising: boolean;
}

function sortOf(title: string, order: Order): 'ascending' | 'descending' | undefined {
  if (title !== order.title) return undefined;
  return order.isRising ? 'ascending' : 'descending';
}

function compare(one: number | string, other: number | string): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other));
}

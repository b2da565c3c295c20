import type { ReactNode } from 'react';
import { Pager, type PagerProps } from './pager.tsx';
import { Table, type TableProps } from './table.tsx';

export interface PagedTableProps<Row> extends TableProps<Row>, PagerProps {
  /** Stands there when there is nothing at all. */
  readonly empty: ReactNode;
}

/** A page of rows, and the ways to the others. */
export function PagedTable<Row>(props: PagedTableProps<Row>): ReactNode {
  const { empty, offset, limit, total, onMove, ...table } = props;
  // A page behind the last one, as after a deletion, leads back.
  if (table.rows.length === 0 && offset === 0) return empty;
  return (
    <>
      <Table {...table} />
      <Pager offset={offset} limit={limit} total={total} onMove={onMove} />
    </>
  );
}

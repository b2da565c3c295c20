import { columnsOf, type ColumnTypes } from '../../kit/database/row-columns.ts';

/** A trace as a write describes it: what its new spans add. */
export interface OpenRow {
  readonly trace_id: string;
  readonly day: number;
  readonly received_at: number;
  readonly start_us: number;
  readonly end_us: number;
  readonly name: string;
  readonly service: string;
  readonly agent: string;
  readonly agents: readonly string[];
  readonly terms: readonly number[];
  readonly status: number;
  readonly span_count: number;
  readonly error_count: number;
  /** PostgreSQL's hexadecimal form. */
  readonly tags: string | null;
  readonly is_partial: boolean;
  /** Of a failed trace: code, message, spanId and agent, as JSON. */
  readonly error: string | null;
}

/** A complete trace. */
export interface CompleteRow extends OpenRow {
  readonly network_us: number;
  readonly processing_us: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cost_usd: number | null;
  readonly bottlenecks: number;
  /** What the rows must be like for this to be true of them. */
  readonly known_revision: number;
  readonly known_completions: number;
  readonly known_spans: number;
  /** With spans of it that no open row names. */
  readonly chunks: readonly number[];
}

const openColumns: ColumnTypes<OpenRow> = {
  trace_id: 'uuid',
  day: 'integer',
  received_at: 'bigint',
  start_us: 'bigint',
  end_us: 'bigint',
  name: 'text',
  service: 'text',
  agent: 'text',
  agents: 'text[]',
  terms: 'integer[]',
  status: 'smallint',
  span_count: 'integer',
  error_count: 'integer',
  tags: 'bytea',
  is_partial: 'boolean',
  error: 'text',
};

/** What the analysis of a complete trace adds. */
const analysedColumns = {
  network_us: 'bigint',
  processing_us: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cost_usd: 'double precision',
  bottlenecks: 'integer',
} as const;

export const completeColumns: ColumnTypes<CompleteRow> = {
  ...openColumns,
  ...analysedColumns,
  known_revision: 'integer',
  known_completions: 'integer',
  known_spans: 'integer',
  chunks: 'bigint[]',
};

/** Of open rows as JSON. */
export const openTypes = Object.entries(openColumns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

export const openNames = Object.keys(openColumns).join(', ');

/** The columns that complete rows have, but for how often they were and their chunks. */
export const completeNames = Object.keys({ ...openColumns, ...analysedColumns });

/** Complete rows as a completion has them. */
export function completeRowColumns(rows: readonly CompleteRow[]): string[] {
  return columnsOf(completeColumns, rows);
}

import { chunksPerDay, spansKeptDays } from '../intake/days.ts';

/** How a table is cut by time, and how long what is in it is kept. */
export interface PartitionedTable {
  readonly table: string;
  /** Days that a partition spans; partitions begin at multiples of it since the epoch. */
  readonly widthDays: number;
  /** What the column that decides counts in a day. */
  readonly perDay: number;
  readonly keptDays: number;
  /** Whether rows may come that belong to any day that is kept, or those of now only. */
  readonly takesPast: boolean;
  /** Storage parameters of a partition. */
  readonly options: string;
}

/** Every table that is cut by time: the interface's retention. */
export const partitionedTables: readonly PartitionedTable[] = [
  {
    table: 'chunk',
    widthDays: 1,
    perDay: chunksPerDay,
    keptDays: spansKeptDays,
    takesPast: false,
    options: '',
  },
  {
    table: 'trace',
    widthDays: 1,
    perDay: 1,
    keptDays: spansKeptDays,
    takesPast: false,
    options: '',
  },
  cells('block_minute', { widthDays: 1, keptDays: 7 }),
  cells('block_hour', { widthDays: 5, keptDays: 30 }),
  cells('block_day', { widthDays: 30, keptDays: 90 }),
  {
    table: 'error_log',
    widthDays: 5,
    perDay: 86_400_000,
    keptDays: 30,
    takesPast: true,
    options: '',
  },
];

function cells(
  table: string,
  cut: Pick<PartitionedTable, 'widthDays' | 'keptDays'>,
): PartitionedTable {
  return { table, perDay: 1_440, takesPast: true, options: '', ...cut };
}

const dayMs = 86_400_000;
/** What is over stays so much longer, for a statement that was made while it was not. */
const graceMs = 3_600_000;
const aheadDays = 2;

/** The first days of the partitions that must be there: through the day after tomorrow. */
export function neededPartitions(table: PartitionedTable, nowMs: number): number[] {
  const today = Math.floor(nowMs / dayMs);
  const { widthDays, keptDays, takesPast } = table;
  // A clock that is set back a little finds yesterday's.
  const first = today - (takesPast ? keptDays : 1);
  const days: number[] = [];
  for (let day = first - (first % widthDays); day <= today + aheadDays; day += widthDays) {
    days.push(day);
  }
  return days;
}

/** Whether all of the partition that begins on a day is older than it is kept. */
export function isOver(
  { widthDays, keptDays }: PartitionedTable,
  firstDay: number,
  nowMs: number,
): boolean {
  return (firstDay + widthDays + keptDays) * dayMs + graceMs <= nowMs;
}

/** The name of the partition that begins on a day. */
export function partitionName({ table }: PartitionedTable, firstDay: number): string {
  return `${table}_${firstDay}`;
}

/** The day on which the partition of a name begins; undefined of a name that is not ours. */
export function firstDayOf({ table }: PartitionedTable, name: string): number | undefined {
  const day = name.startsWith(`${table}_`) ? name.slice(table.length + 1) : '';
  return /^\d{1,9}$/.test(day) ? Number(day) : undefined;
}

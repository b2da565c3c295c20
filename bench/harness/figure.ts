/**
 * `limit`: the bare thing that ours cannot beat. `peer`: what others do for the same job. `check`: a
 * known cost, which shows whether the method counts right on this machine.
 */
export type Role = 'ours' | 'limit' | 'peer' | 'check';

/** One line of a figure. */
export interface Row {
  readonly name: string;
  readonly role: Role;
  readonly unit: string;
  /** One per round; the same index is the same round in every row of a figure. */
  readonly samples: readonly number[];
  readonly goal?: Goal;
}

/** One thing measured; its first `limit` row is what the others' ratios refer to. */
export interface Figure {
  readonly title: string;
  readonly rows: readonly Row[];
  /** What a reader must know to take the numbers rightly. */
  readonly note?: string;
}

export interface Goal {
  readonly text: string;
  readonly isMet: (reached: Reached) => boolean;
}

/** Medians of a row. */
export interface Reached {
  readonly value: number;
  /** Round by round against the limit; NaN where the figure has none. */
  readonly ratio: number;
}

export const atMost = (most: number, unit: string): Goal => ({
  text: `<= ${formatNumber(most)} ${unit}`,
  isMet: ({ value }) => value <= most,
});

export const atLeast = (least: number, unit: string): Goal => ({
  text: `>= ${formatNumber(least)} ${unit}`,
  isMet: ({ value }) => value >= least,
});

export const ratioAtMost = (most: number): Goal => ({
  text: `<= ${formatNumber(most)}x limit`,
  isMet: ({ ratio }) => ratio <= most,
});

/** `of` is what the ratio refers to, as readers are told. */
export const ratioAtLeast = (least: number, of = 'limit'): Goal => ({
  text: `>= ${formatNumber(least)}x ${of}`,
  isMet: ({ ratio }) => ratio >= least,
});

/** The figures as one table of text; `-` stands where a row has no limit or no goal. */
export function formatFigures(figures: readonly Figure[]): string {
  const header = [
    '',
    'figure',
    'median',
    'min..max',
    'unit',
    'x limit',
    'half within',
    'goal',
    'met',
  ];
  const sections = figures.map((figure) => ({ ...figure, lines: linesOf(figure) }));
  const all = [header, ...sections.flatMap(({ lines }) => lines)];
  const widths = header.map((_, column) =>
    Math.max(...all.map((line) => line[column]?.length ?? 0)),
  );
  const layOut = (line: readonly string[]) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const blocks = sections.map(({ title, lines, note }) =>
    ['', title, ...lines.map(layOut), ...(note ? [`  ${note}`] : [])].join('\n'),
  );
  return [layOut(header), ...blocks].join('\n');
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** What that share of the samples is below; between two samples, in proportion. */
function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(place)] ?? Number.NaN;
  const upper = sorted[Math.ceil(place)] ?? Number.NaN;
  return lower + (upper - lower) * (place - Math.floor(place));
}

function linesOf({ rows }: Figure): string[][] {
  const limit = rows.find(({ role }) => role === 'limit');
  return rows.map(({ name, role, unit, samples, goal }) => {
    const ratios = samples.map((sample, round) => sample / (limit?.samples[round] ?? Number.NaN));
    const reached = { value: median(samples), ratio: median(ratios) };
    return [
      `  ${role}`,
      name,
      formatNumber(reached.value),
      `${formatNumber(Math.min(...samples))}..${formatNumber(Math.max(...samples))}`,
      unit,
      limit ? reached.ratio.toFixed(2) : '-',
      limit && role !== 'limit' ? middleHalf(ratios) : '-',
      goal?.text ?? '-',
      metText(goal, reached),
    ];
  });
}

function middleHalf(ratios: readonly number[]): string {
  return `${quantile(ratios, 0.25).toFixed(2)}..${quantile(ratios, 0.75).toFixed(2)}`;
}

function metText(goal: Goal | undefined, reached: Reached): string {
  if (!goal) return '-';
  return goal.isMet(reached) ? 'yes' : 'NO';
}

function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
}

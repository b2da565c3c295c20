import { Cell } from './cells.ts';
import { otherLabel, seriesIdOf, storedLabel } from './series-id.ts';
import type { Sample, SeriesKind } from './series.ts';

/** A series with what was added to it and not taken out yet. */
export class OpenSeries {
  readonly id: number;
  readonly kind: SeriesKind;
  readonly labels: readonly string[];
  /** By minutes since the epoch. */
  readonly cells = new Map<number, Cell>();
  /** The database has not been told its labels. */
  isNew = true;
  #lastMinute = -1;
  #lastCell: Cell | undefined;

  constructor(kind: SeriesKind, labels: readonly string[]) {
    this.kind = kind;
    this.labels = labels.map(storedLabel);
    this.id = seriesIdOf(kind, this.labels);
  }

  cellAt(minute: number): Cell {
    if (this.#lastMinute === minute && this.#lastCell !== undefined) return this.#lastCell;
    let cell = this.cells.get(minute);
    if (cell === undefined) this.cells.set(minute, (cell = new Cell()));
    this.#lastMinute = minute;
    this.#lastCell = cell;
    return cell;
  }

  clear(): void {
    this.cells.clear();
    this.#lastMinute = -1;
    this.#lastCell = undefined;
    this.isNew = false;
  }
}

/** Kinds whose last label is one of a few words, which stays when the others are folded. */
const closedLast: ReadonlySet<SeriesKind> = new Set([
  'traceStatus',
  'operation',
  'self',
  'edge',
  'service',
]);

/**
 * The series of this process by kind and labels. Of each kind it knows at most `seriesMax`; whatever
 * comes then counts under `(other)`.
 */
export class SeriesIndex {
  readonly #seriesMax: number;
  readonly #byId = new Map<number, OpenSeries>();
  readonly #kinds = new Map<SeriesKind, { readonly root: Branch; count: number }>();

  constructor(seriesMax: number) {
    this.#seriesMax = seriesMax;
  }

  /** The series that a sample belongs to. */
  of({ kind, labels }: Sample): OpenSeries {
    let known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, (known = { root: newBranch(), count: 0 }));
    const found = find(known.root, labels);
    if (found !== undefined) return found;
    const isFull = known.count >= this.#seriesMax;
    const branch = grow(known.root, isFull ? folded(kind, labels) : labels);
    if (branch.series === undefined) {
      branch.series = this.#storedAs(new OpenSeries(kind, isFull ? folded(kind, labels) : labels));
      known.count += 1;
    }
    return branch.series;
  }

  /** Long labels may differ only in what is not stored of them: then they are one series. */
  #storedAs(series: OpenSeries): OpenSeries {
    const known = this.#byId.get(series.id);
    if (known) return known;
    this.#byId.set(series.id, series);
    return series;
  }
}

function folded(kind: SeriesKind, labels: readonly string[]): string[] {
  const last = labels.length - 1;
  return labels.map((label, at) => (at === last && closedLast.has(kind) ? label : otherLabel));
}

/** Nested by label, so that finding a series joins no texts. */
interface Branch {
  series: OpenSeries | undefined;
  readonly branches: Map<string, Branch>;
}

function newBranch(): Branch {
  return { series: undefined, branches: new Map() };
}

function find(root: Branch, labels: readonly string[]): OpenSeries | undefined {
  let branch: Branch | undefined = root;
  for (let at = 0; at < labels.length && branch !== undefined; at += 1) {
    branch = branch.branches.get(labels[at] ?? '');
  }
  return branch?.series;
}

function grow(root: Branch, labels: readonly string[]): Branch {
  let branch = root;
  for (const label of labels) {
    let next = branch.branches.get(label);
    if (next === undefined) branch.branches.set(label, (next = newBranch()));
    branch = next;
  }
  return branch;
}

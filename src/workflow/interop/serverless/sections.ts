import { Fault } from '../../../kit/errors.ts';
import { placeholderNode, type DraftLink, type DraftNode, type DraftStep } from '../draft.ts';
import { fieldsOf, isFields, listOf, type Fields } from '../fields.ts';
import { NodeIds } from '../node-ids.ts';
import { pathText, placeholderText, type DataPlace } from '../paths.ts';
import type { StepStatus } from '../report.ts';

/** Where a way goes on from, with the data that it brings. */
export interface Tail {
  readonly from: string;
  readonly handle?: string;
  readonly place: DataPlace;
}

/** Tasks with the way into them and those out of them. */
export interface Section {
  readonly entry: string | undefined;
  readonly tails: readonly Tail[];
}

/** A way to a task by its name, or to `continue`, `exit` or `end`. */
export interface Way {
  readonly tail: Tail;
  readonly to: string;
}

export interface NamedTask {
  readonly name: string;
  readonly task: Fields;
}

export type Known = Pick<DraftStep, 'key' | 'source' | 'type' | 'settings'>;

export interface Made {
  readonly node?: DraftNode;
  readonly status: StepStatus;
  readonly note?: string;
}

/** The steps and ways of a document as they are found. */
export class Sections {
  readonly steps: DraftStep[] = [];
  readonly links: DraftLink[] = [];
  readonly ids = new NodeIds();

  link({ from, handle }: Omit<Tail, 'place'>, to: string): void {
    this.links.push({ from, to, ...(handle === undefined ? {} : { handle }) });
  }

  /** A step that may turn out to have no counterpart. */
  tried(id: string, known: Known, make: () => Made): void {
    try {
      this.add(id, known, make());
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'not_translatable') throw error;
      this.add(id, known, { status: 'unsupported', note: error.message });
    }
  }

  add(id: string, known: Known, { node, status, note }: Made): void {
    const drawn = node ?? placeholderNode(known, note ?? '', known.settings);
    const label = known.source.slice(0, 200);
    this.steps.push({ ...known, status, note, node: { ...drawn, label, id } });
  }

  /** Something of the document that is no node. */
  note(source: string, said: { readonly type: string } & Omit<Made, 'node'>): void {
    this.steps.push({ key: this.ids.unused(source), source, ...said });
  }

  /** Says of steps that they were exact that they are not quite. */
  adapt(steps: readonly DraftStep[], note: string): void {
    for (const { key } of steps) {
      this.change(key, (step) =>
        step.status === 'exact' ? { ...step, status: 'adapted', note } : step,
      );
    }
  }

  change(key: string, change: (step: DraftStep) => DraftStep): void {
    const at = this.steps.findIndex((step) => step.key === key);
    const step = this.steps[at];
    if (step) this.steps[at] = change(step);
  }

  /**
   * One place for the data that several ways bring: where they differ, that of the newest node that was
   * not skipped.
   */
  meet(source: string, tails: readonly Tail[]): { tails: readonly Tail[]; place?: DataPlace } {
    const places = new Map(tails.map(({ place }) => [pathText(place), place]));
    const [first] = places.values();
    if (!first || places.size === 1) return { tails, ...(first ? { place: first } : {}) };
    const age = ({ root }: DataPlace) => this.steps.findIndex(({ node }) => node?.id === root);
    const newest = [...places.values()].toSorted((a, b) => age(b) - age(a));
    const id = this.ids.unused(`${source}_data`);
    const known = { key: id, source: `${source} (data)`, type: 'data', settings: {} };
    const data = { mode: 'first', inputs: newest.map(placeholderText) };
    this.add(id, known, { node: { type: 'Merge', data }, status: 'exact' });
    for (const tail of tails) this.link(tail, id);
    const place = { root: id, steps: ['merged'] };
    return { tails: [{ from: id, place }], place };
  }

  /** One way out of several, from the node that gives the data which they bring. */
  carry(source: string, ends: readonly Tail[]): Tail | undefined {
    const { tails, place } = this.meet(source, ends);
    const [only] = tails;
    if (!place || !only) return undefined;
    if (tails.length === 1 && only.handle === undefined && only.from === place.root) return only;
    const id = this.ids.unused(`${source}_round`);
    const known = { key: id, source: `${source} (round)`, type: 'data', settings: {} };
    const data = { mode: 'first', inputs: [placeholderText(place)] };
    this.add(id, known, { node: { type: 'Merge', data }, status: 'exact' });
    for (const tail of tails) this.link(tail, id);
    return { from: id, place: { root: id, steps: ['merged'] } };
  }
}

/** Tasks stand in lists of objects with one name each. */
export function namedTasks(value: unknown): readonly NamedTask[] {
  return listOf(value)
    .filter(isFields)
    .flatMap((one) => Object.entries(one).slice(0, 1))
    .map(([name, task]) => ({ name, task: fieldsOf(task) }));
}

/** The ways that go on, with `continue` as the name of what comes next. */
export function waysOn(ways: readonly Way[], next: string): readonly Way[] {
  return ways
    .map(({ tail, to }) => ({ tail, to: to === 'continue' ? next : to }))
    .filter(({ to }) => to !== 'end');
}

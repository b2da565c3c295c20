import { Fault } from '../../../kit/errors.ts';
import {
  placeholderNode,
  type Draft,
  type DraftLink,
  type DraftNode,
  type DraftStep,
} from '../draft.ts';
import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.ts';
import { NodeIds, toIdentifier } from '../node-ids.ts';
import { placeholderText, type DataPlace } from '../paths.ts';
import type { StepStatus } from '../report.ts';
import { conditionOfJq, placeOfJq, type JqSight } from './jq.ts';
import { asOwn, kindOf, mapTask, retryOf } from './tasks.ts';

/** Reads a workflow of the Serverless Workflow DSL 1.0. */
export function importServerless(document: Fields): Draft {
  return new ServerlessImport().draft(document);
}

/** Where a way goes on from. */
interface Tail {
  readonly from: string;
  readonly handle?: string;
}

/** Tasks with the way into them and out of them. */
interface Section {
  readonly entry: string | undefined;
  readonly tails: readonly Tail[];
  readonly place: DataPlace;
}

interface NamedTask {
  readonly name: string;
  readonly task: Fields;
}

class ServerlessImport {
  readonly #steps: DraftStep[] = [];
  readonly #links: DraftLink[] = [];
  readonly #warnings: string[] = [];
  readonly #ids = new NodeIds();

  draft(document: Fields): Draft {
    const { name, summary, title } = fieldsOf(document['document']);
    const inputs: DataPlace = { root: 'inputs', steps: [] };
    const variables = { input: inputs };
    this.#list(document['do'], { own: inputs, variables });
    return {
      name: textOf(title) || textOf(name),
      description: textOf(summary),
      steps: this.#steps,
      links: this.#links,
      warnings: this.#warnings,
    };
  }

  /** A list of tasks, one behind the other unless `then` says otherwise. */
  // One pass over the tasks; its parts share what they know of the ways so far.
  // oxlint-disable-next-line complexity
  #list(value: unknown, sight: JqSight): Section {
    const tasks = namedTasks(value);
    const places = new Map<string, DataPlace>([[tasks[0]?.name ?? '', sight.own]]);
    const entries = new Map<string, string>();
    const open: { readonly tail: Tail; readonly to: string }[] = [];
    const tails: Tail[] = [];
    let last = sight.own;
    for (const [at, { name, task }] of tasks.entries()) {
      const next = tasks[at + 1]?.name ?? '';
      const own = places.get(name) ?? last;
      const made = this.#task(name, task, { ...sight, own });
      if (made.entry !== undefined) entries.set(name, made.entry);
      last = made.place;
      for (const { tail, to, place } of made.ways) {
        const target = to === 'continue' ? next : to;
        if (!places.has(target)) places.set(target, place);
        if (target === '' || target === 'exit') tails.push(tail);
        else if (target !== 'end') open.push({ tail, to: target });
      }
    }
    for (const { tail, to } of open) this.#join(tail, to, entries);
    return { entry: entries.get(tasks[0]?.name ?? ''), tails, place: last };
  }

  #join(tail: Tail, to: string, entries: ReadonlyMap<string, string>): void {
    const entry = entries.get(to);
    if (entry === undefined) this.#warnings.push(`there is no task ${to.slice(0, 64)}`);
    else this.#links.push({ from: tail.from, to: entry, ...handleOf(tail) });
  }

  #task(name: string, task: Fields, sight: JqSight): Entered {
    const then = textOf(task['then']) || 'continue';
    const guard = textOf(task['if']);
    const id = this.#ids.unused(name);
    const condition = guard === '' ? undefined : this.#guard(`${id}_if`, guard, { name, sight });
    const inner = this.#body({ id, name, task, sight });
    const ways = inner.ways ?? inner.tails.map((tail) => ({ tail, to: then, place: inner.place }));
    if (condition === undefined) return { entry: inner.entry, place: inner.place, ways };
    if (inner.entry !== undefined) {
      this.#links.push({ from: condition, to: inner.entry, handle: 'true' });
    }
    const skipped = {
      tail: { from: condition, handle: 'false' },
      to: 'continue',
      place: sight.own,
    };
    return { entry: condition, place: inner.place, ways: [...ways, skipped] };
  }

  #guard(id: string, text: string, { name, sight }: { name: string; sight: JqSight }): string {
    const key = this.#ids.unused(id);
    const known = { key, source: `${name} (if)`, type: 'if', settings: { if: text } };
    this.#tried(key, known, () => ({
      node: { type: 'Condition', data: { condition: conditionOfJq(text, sight) } },
      status: 'exact',
    }));
    return key;
  }

  #body(given: TaskGiven): Section & { readonly ways?: Entered['ways'] } {
    const kind = kindOf(given.task);
    if (kind === 'do') return this.#list(given.task['do'], given.sight);
    if (kind === 'switch') return this.#switch(given);
    if (kind === 'for') return this.#loop(given);
    if (kind === 'fork') return this.#fork(given);
    if (kind === 'try') return this.#try(given);
    return this.#simple(given);
  }

  #simple({ id, name, task, sight }: TaskGiven): Section {
    let place = sight.own;
    this.#tried(id, { key: id, source: name, type: kindOf(task), settings: task }, () => {
      const mapped = mapTask(task, sight);
      if (mapped.data) place = { root: id, steps: mapped.data };
      const shaped = textOf(fieldsOf(task['output'])['as']);
      if (shaped !== '') place = placeOfJq(shaped, { ...sight, own: place });
      if (task['export'] !== undefined) this.#warnings.push(`${name}: its export is left out`);
      return asOwn(task, mapped);
    });
    return { entry: id, tails: [{ from: id }], place };
  }

  #switch({ id, name, task, sight }: TaskGiven): Section & { readonly ways: Entered['ways'] } {
    const given = namedTasks(task['switch']).map(({ name: label, task: rule }) => ({
      handle: toIdentifier(label).slice(0, 60),
      when: textOf(rule['when']),
      next: textOf(rule['then']) || 'continue',
    }));
    const fallback = given.find(({ when }) => when === '');
    this.#tried(id, { key: id, source: name, type: 'switch', settings: task }, () => {
      const cases = given
        .filter(({ when }) => when !== '')
        .map(({ when, handle }) => ({ when: conditionOfJq(when, sight), handle }));
      return { node: { type: 'Switch', data: { cases, default: 'default' } }, status: 'exact' };
    });
    const ways = given.map(({ handle, when, next }) => ({
      tail: { from: id, handle: when === '' ? 'default' : handle },
      to: next,
      place: sight.own,
    }));
    const other = { tail: { from: id, handle: 'default' }, to: 'continue', place: sight.own };
    const all = fallback ? ways : [...ways, other];
    return { entry: id, tails: [], place: sight.own, ways: all };
  }

  #loop({ id, name, task, sight }: TaskGiven): Section {
    const { each, in: list, at } = fieldsOf(task['for']);
    const isBounded = task['while'] !== undefined;
    this.#tried(id, { key: id, source: name, type: 'for', settings: { for: task['for'] } }, () => {
      const items = placeholderText(placeOfJq(textOf(list), sight));
      const note = 'its `while` is left out: every item has its round';
      return {
        node: { type: 'Loop', data: { items } },
        status: isBounded ? 'unsupported' : 'adapted',
        note: isBounded ? note : 'rounds do not see what the round before made of the data',
      };
    });
    const variables = {
      ...sight.variables,
      [textOf(each) || 'item']: { root: 'loop', steps: ['item'] },
      [textOf(at) || 'index']: { root: 'loop', steps: ['index'] },
    };
    const body = this.#list(task['do'], { ...sight, variables });
    if (body.entry !== undefined) this.#links.push({ from: id, to: body.entry, handle: 'body' });
    for (const tail of body.tails) this.#links.push({ from: tail.from, to: id, ...handleOf(tail) });
    const place = { root: id, steps: ['results'] };
    return { entry: id, tails: [{ from: id, handle: 'done' }], place };
  }

  #fork({ id, name, task, sight }: TaskGiven): Section {
    const { branches, compete } = fieldsOf(task['fork']);
    const isRace = compete === true;
    const join = this.#ids.unused(`${name}_join`);
    this.#add(
      id,
      { key: id, source: name, type: 'fork', settings: task },
      {
        node: { type: 'Parallel', data: {} },
        status: isRace ? 'adapted' : 'exact',
        ...(isRace ? { note: 'all branches run to their end; there is no race' } : {}),
      },
    );
    for (const { name: branch, task: one } of namedTasks(branches)) {
      const { entry, tails } = this.#list([{ [branch]: one }], sight);
      if (entry !== undefined) this.#links.push({ from: id, to: entry });
      for (const tail of tails) this.#links.push({ from: tail.from, to: join, ...handleOf(tail) });
    }
    const data = isRace ? { mode: 'first' } : {};
    this.#add(
      join,
      { key: join, source: `${name} (join)`, type: 'fork', settings: {} },
      {
        node: { type: 'Merge', data },
        status: 'exact',
      },
    );
    return { entry: id, tails: [{ from: join }], place: { root: join, steps: ['merged'] } };
  }

  #try({ name, task, sight }: TaskGiven): Section {
    const handling = fieldsOf(task['catch']);
    const retry = retryOf(handling['retry']);
    const first = this.#steps.length;
    const tried = this.#list(task['try'], sight);
    const isHandled = handling['do'] !== undefined;
    const inside = this.#steps.slice(first);
    const rules = {
      ...(retry ? { retry } : {}),
      ...(isHandled || !retry ? { onError: 'continue' as const } : {}),
    };
    for (const [at, step] of inside.entries()) {
      if (!step.node) continue;
      this.#steps[first + at] = { ...step, node: { ...step.node, ...rules } };
    }
    if (handling['errors'] !== undefined) {
      this.#warnings.push(`${name}: every failure is caught, not only those that it names`);
    }
    if (!isHandled) return tried;
    const caught = this.#list(handling['do'], sight);
    const { entry } = caught;
    if (entry === undefined) return tried;
    for (const { key, node } of inside) {
      if (node) this.#links.push({ from: key, to: entry, handle: 'error' });
    }
    return { ...tried, tails: [...tried.tails, ...caught.tails] };
  }

  #tried(id: string, known: Known, make: () => Made): void {
    try {
      this.#add(id, known, make());
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'not_translatable') throw error;
      this.#add(id, known, { status: 'unsupported', note: error.message });
    }
  }

  #add(id: string, known: Known, { node, status, note }: Made): void {
    const drawn = node ?? placeholderNode(known, note ?? '', known.settings);
    const label = known.source.slice(0, 200);
    this.#steps.push({ ...known, status, note, node: { ...drawn, label, id } });
  }
}

type Known = Pick<DraftStep, 'key' | 'source' | 'type' | 'settings'>;

interface Made {
  readonly node?: DraftNode;
  readonly status: StepStatus;
  readonly note?: string;
}

interface TaskGiven {
  readonly id: string;
  readonly name: string;
  readonly task: Fields;
  readonly sight: JqSight;
}

interface Entered {
  readonly entry: string | undefined;
  readonly place: DataPlace;
  readonly ways: readonly { readonly tail: Tail; readonly to: string; readonly place: DataPlace }[];
}

function handleOf({ handle }: Tail): { handle?: string } {
  return handle === undefined ? {} : { handle };
}

/** Tasks stand in lists of objects with one name each. */
function namedTasks(value: unknown): readonly NamedTask[] {
  return listOf(value)
    .filter(isFields)
    .flatMap((one) => Object.entries(one).slice(0, 1))
    .map(([name, task]) => ({ name, task: fieldsOf(task) }));
}

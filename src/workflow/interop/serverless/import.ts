import type { Draft } from '../draft.ts';
import { fieldsOf, present, textOf, type Fields } from '../fields.ts';
import { toIdentifier } from '../node-ids.ts';
import { placeholderText, type DataPlace } from '../paths.ts';
import { translateAs } from '../translation.ts';
import { inputsOf, noteHead, settingsOf } from './head.ts';
import { conditionOfJq, placeOfJq, type JqSight } from './jq.ts';
import {
  namedTasks,
  Sections,
  waysOn,
  type NamedTask,
  type Section,
  type Tail,
  type Way,
} from './sections.ts';
import { noting, schemasOf, simpleSection } from './simple-tasks.ts';
import { kindOf, timeoutOf } from './tasks.ts';
import { holdsMany, trySection } from './tries.ts';

/** Reads a workflow of the Serverless Workflow DSL 1.0. */
export function importServerless(document: Fields): Draft {
  return new ServerlessImport(document).draft();
}

/** Kinds of tasks that hold others. */
const composite = new Set(['do', 'for', 'fork', 'try', 'switch']);

class ServerlessImport {
  readonly #document: Fields;
  readonly #use: Fields;
  readonly #sections = new Sections();
  readonly #warnings: string[] = [];

  constructor(document: Fields) {
    this.#document = document;
    this.#use = fieldsOf(document['use']);
  }

  draft(): Draft {
    const { name, summary, title } = fieldsOf(this.#document['document']);
    const settings = settingsOf(this.#document, this.#use);
    const inputs = inputsOf(this.#document, this.#sections);
    this.#list(this.#document['do'], { own: inputs, variables: { input: inputs } });
    this.#warnings.push(...noteHead(this.#document, this.#use, this.#sections));
    return {
      name: textOf(title) || textOf(name),
      description: textOf(summary),
      steps: this.#sections.steps,
      links: this.#sections.links,
      warnings: this.#warnings,
      ...(settings ? { settings } : {}),
    };
  }

  /** A list of tasks, one behind the other unless `then` says otherwise. */
  #list(value: unknown, sight: JqSight): Section {
    const tasks = namedTasks(value);
    const entries = new Map<string, string | undefined>();
    const open: Way[] = [];
    const tails: Tail[] = [];
    const left: NamedTask[] = [];
    for (const [at, { name, task }] of tasks.entries()) {
      const coming = open.filter(({ to }) => to === name).map(({ tail }) => tail);
      if (at > 0 && coming.length === 0) {
        left.push({ name, task });
        continue;
      }
      const met = this.#sections.meet(name, coming);
      const made = this.#task(name, task, { ...sight, own: met.place ?? sight.own });
      entries.set(name, made.entry);
      for (const tail of met.tails) this.#link(tail, made.entry);
      const ways = waysOn(made.ways, tasks[at + 1]?.name ?? 'exit');
      tails.push(...ways.flatMap(({ tail, to }) => (to === 'exit' ? [tail] : [])));
      open.push(...ways.filter(({ to }) => to !== 'exit'));
      for (const { tail, to } of ways) this.#link(tail, entries.get(to));
    }
    this.#close(left, open, new Set(tasks.map(({ name }) => name)));
    return { entry: entries.get(tasks[0]?.name ?? ''), tails };
  }

  #link(tail: Tail, entry: string | undefined): void {
    if (entry !== undefined) this.#sections.link(tail, entry);
  }

  /** Tasks that were not reached in their order: nothing leads there, or a later one leads back. */
  #close(left: readonly NamedTask[], open: readonly Way[], names: ReadonlySet<string>): void {
    for (const { name, task } of left) {
      const ways = open.filter(({ to }) => to === name);
      const type = kindOf(task);
      if (ways.length === 0) {
        const note = 'nothing leads here, so that it never runs: it is left out';
        this.#sections.note(name, { type, status: 'exact', note });
        continue;
      }
      const id = this.#sections.ids.unused(name);
      const note = 'only a later task leads back here';
      const known = { key: id, source: name, type, settings: task };
      this.#sections.add(id, known, { status: 'unsupported', note });
      for (const { tail } of ways) this.#sections.link(tail, id);
    }
    for (const { to } of open) {
      if (!names.has(to)) this.#warnings.push(`there is no task ${to.slice(0, 64)}`);
    }
  }

  #task(name: string, task: Fields, sight: JqSight): Entered {
    const then = textOf(task['then']) || 'continue';
    const guard = textOf(task['if']);
    const id = this.#sections.ids.unused(name);
    const condition = guard === '' ? undefined : this.#guard(`${id}_if`, guard, { name, sight });
    const inner = this.#body({ id, name, task, sight });
    const ways = inner.ways ?? inner.tails.map((tail) => ({ tail, to: then }));
    if (condition === undefined) return { entry: inner.entry, ways };
    this.#link({ from: condition, handle: 'true', place: sight.own }, inner.entry);
    const skipped = { from: condition, handle: 'false', place: sight.own };
    return { entry: condition, ways: [...ways, { tail: skipped, to: 'continue' }] };
  }

  #guard(id: string, text: string, { name, sight }: { name: string; sight: JqSight }): string {
    const key = this.#sections.ids.unused(id);
    const known = { key, source: `${name} (if)`, type: 'if', settings: { if: text } };
    this.#sections.tried(key, known, () =>
      noting(sight, (seen) => ({
        node: { type: 'Condition', data: { condition: conditionOfJq(text, seen) } },
        status: 'exact',
      })),
    );
    return key;
  }

  #body(given: TaskGiven): Section & { readonly ways?: readonly Way[] } {
    const { name, task, sight } = given;
    const kind = kindOf(task);
    const { from } = fieldsOf(task['input']);
    const own = from === undefined ? sight.own : translateAs(() => placeOfJq(textOf(from), sight));
    if (!own) return this.#refuse(given, 'what it takes from its input is more than a path');
    const seen = { ...given, sight: { ...sight, own } };
    this.#noteLeft(name, task);
    if (kind === 'do') return this.#list(task['do'], seen.sight);
    if (kind === 'switch') return this.#switch(seen);
    if (kind === 'for') return this.#loop(seen);
    if (kind === 'fork') return this.#fork(seen);
    if (kind === 'try') {
      if (holdsMany(task['try'])) {
        return this.#refuse(given, 'a failure within `for` or `fork` cannot be caught');
      }
      const parts = { sections: this.#sections, use: this.#use };
      const list = (tasks: unknown) => this.#list(tasks, seen.sight);
      const made = trySection({ name, task, own }, { ...parts, list });
      this.#warnings.push(...made.warnings);
      return made.section;
    }
    return simpleSection(seen, { sections: this.#sections, use: this.#use });
  }

  /** Says what of a task that holds others is left out. */
  #noteLeft(name: string, task: Fields): void {
    const kind = kindOf(task);
    const isBounded =
      (kind === 'for' || kind === 'fork') && timeoutOf(task['timeout'], this.#use) !== undefined;
    const words = isBounded ? ['output', 'export'] : ['output', 'export', 'timeout'];
    const left = [
      ...words.filter((word) => task[word] !== undefined),
      ...schemasOf({ input: task['input'] }),
    ].join(', ');
    if (!composite.has(kind) || left === '') return;
    const note = `left out: ${left}`;
    this.#sections.note(`${name} (${left})`, { type: kind, status: 'unsupported', note });
  }

  #refuse({ id, name, task, sight }: TaskGiven, note: string): Section {
    const known = { key: id, source: name, type: kindOf(task), settings: task };
    this.#sections.add(id, known, { status: 'unsupported', note });
    return { entry: id, tails: [{ from: id, place: sight.own }] };
  }

  #switch({ id, name, task, sight }: TaskGiven): Section & { readonly ways: readonly Way[] } {
    const given = namedTasks(task['switch']).map(({ name: label, task: rule }) => ({
      handle: toIdentifier(label).slice(0, 60),
      when: textOf(rule['when']),
      next: textOf(rule['then']) || 'continue',
    }));
    const fallback = given.find(({ when }) => when === '');
    this.#sections.tried(id, { key: id, source: name, type: 'switch', settings: task }, () =>
      noting(sight, (seen) => {
        const cases = given
          .filter(({ when }) => when !== '')
          .map(({ when, handle }) => ({ when: conditionOfJq(when, seen), handle }));
        return { node: { type: 'Switch', data: { cases, default: 'default' } }, status: 'exact' };
      }),
    );
    const ways = given.map(({ handle, when, next }) => ({
      tail: { from: id, handle: when === '' ? 'default' : handle, place: sight.own },
      to: next,
    }));
    const other = { from: id, handle: 'default', place: sight.own };
    const all = fallback ? ways : [...ways, { tail: other, to: 'continue' }];
    return { entry: id, tails: [], ways: all };
  }

  #loop({ id, name, task, sight }: TaskGiven): Section {
    const { each, in: list, at } = fieldsOf(task['for']);
    const isBounded = task['while'] !== undefined;
    this.#sections.tried(
      id,
      { key: id, source: name, type: 'for', settings: { for: task['for'] } },
      () => {
        const items = placeholderText(placeOfJq(textOf(list), sight));
        const note = 'its `while` is left out: every item has its round';
        return {
          node: {
            type: 'Loop',
            data: { items },
            ...present({ timeout: timeoutOf(task['timeout'], this.#use) }),
          },
          status: isBounded ? 'unsupported' : 'adapted',
          note: isBounded ? note : 'rounds do not see what the round before made of the data',
        };
      },
    );
    const variables = {
      ...sight.variables,
      [textOf(each) || 'item']: { root: 'loop', steps: ['item'] },
      [textOf(at) || 'index']: { root: 'loop', steps: ['index'] },
    };
    const body = this.#list(task['do'], { ...sight, variables });
    this.#link({ from: id, handle: 'body', place: sight.own }, body.entry);
    const round = this.#sections.carry(name, body.tails);
    if (round) this.#sections.link(round, id);
    return { entry: id, tails: [this.#lastRound({ id, name, sight }, round?.place)] };
  }

  /** What comes out of a loop is the data of its last round; without any round what came in. */
  #lastRound({ id, name, sight }: Omit<TaskGiven, 'task'>, round: DataPlace | undefined): Tail {
    const done = { from: id, handle: 'done' };
    if (!round) return { ...done, place: sight.own };
    const last = { root: id, steps: ['results', 'last', ...round.steps] };
    const key = this.#sections.ids.unused(`${name}_output`);
    const known = { key, source: `${name} (output)`, type: 'for', settings: {} };
    const data = { mode: 'first', inputs: [last, sight.own].map(placeholderText) };
    this.#sections.add(key, known, { node: { type: 'Merge', data }, status: 'exact' });
    this.#sections.link(done, key);
    return { from: key, place: { root: key, steps: ['merged'] } };
  }

  #fork({ id, name, task, sight }: TaskGiven): Section {
    const { branches, compete } = fieldsOf(task['fork']);
    const isRace = compete === true;
    const timeout = timeoutOf(task['timeout'], this.#use);
    const notes = [
      ...(isRace ? ['all branches run to their end; there is no race'] : []),
      ...(timeout !== undefined && holdsLists(branches)
        ? ['of a branch of several tasks its timeout bounds the first']
        : []),
    ];
    const join = this.#sections.ids.unused(`${name}_join`);
    this.#sections.add(
      id,
      { key: id, source: name, type: 'fork', settings: task },
      {
        node: { type: 'Parallel', data: {}, ...present({ timeout }) },
        status: notes.length > 0 ? 'adapted' : 'exact',
        ...(notes.length > 0 ? { note: notes.join('; ') } : {}),
      },
    );
    const outputs = namedTasks(branches).map(({ name: branch, task: one }) => {
      const { entry, tails } = this.#list([{ [branch]: one }], sight);
      this.#link({ from: id, place: sight.own }, entry);
      const met = this.#sections.meet(branch, tails);
      for (const tail of met.tails) this.#sections.link(tail, join);
      return met.place ? placeholderText(met.place) : null;
    });
    const data = { inputs: outputs, ...(isRace ? { mode: 'first' } : {}) };
    const known = { key: join, source: `${name} (join)`, type: 'fork', settings: {} };
    this.#sections.add(join, known, { node: { type: 'Merge', data }, status: 'exact' });
    return { entry: id, tails: [{ from: join, place: { root: join, steps: ['merged'] } }] };
  }
}

/** Whether a branch may become more than one node. */
function holdsLists(branches: unknown): boolean {
  return namedTasks(branches).some(({ task }) => composite.has(kindOf(task)) || 'if' in task);
}

interface TaskGiven {
  readonly id: string;
  readonly name: string;
  readonly task: Fields;
  readonly sight: JqSight;
}

interface Entered {
  readonly entry: string | undefined;
  readonly ways: readonly Way[];
}

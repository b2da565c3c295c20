import type { DraftStep } from '../draft.ts';
import { fieldsOf, present, type Fields } from '../fields.ts';
import { placeholderText, type DataPlace } from '../paths.ts';
import { namedTasks, type Section, type Sections } from './sections.ts';
import { droppedOfRetry, kindOf, retryOf } from './tasks.ts';

interface Tried {
  readonly name: string;
  readonly task: Fields;
  /** The data that comes in. */
  readonly own: DataPlace;
}

interface TryParts {
  readonly sections: Sections;
  /** What the document names. */
  readonly use: Fields;
  /** Reads a list of tasks. */
  readonly list: (tasks: unknown) => Section;
}

/** A `try`: whatever fails within it leads to what its `catch` does. */
export function trySection(
  given: Tried,
  parts: TryParts,
): { readonly section: Section; readonly warnings: readonly string[] } {
  const { sections, use, list } = parts;
  const handling = fieldsOf(given.task['catch']);
  const retry = retryOf(handling['retry'], use);
  const first = sections.steps.length;
  const tried = list(given.task['try']);
  const inside = sections.steps.slice(first).filter(({ node }) => node);
  const isCaught = handling['do'] !== undefined || !retry;
  const warnings = noteCatch(handling, inside, parts);
  const open = inside.filter(({ node }) => isCaught && node?.onError === undefined);
  const onError = new Map(open.map(({ key }) => [key, 'continue' as const]));
  for (const { key } of inside) {
    const rules = present({ retry, onError: onError.get(key) });
    sections.change(key, (step) =>
      step.node ? { ...step, node: { ...step.node, ...rules } } : step,
    );
  }
  if (!isCaught) return { section: tried, warnings };
  const caught = caughtSection(given, parts);
  for (const { key } of open) sections.links.push({ from: key, to: caught.entry, handle: 'error' });
  return { section: { ...tried, tails: [...tried.tails, ...caught.tails] }, warnings };
}

/** What a failure leads to; where nothing is said, the flow goes on with what came in. */
function caughtSection(
  { name, task, own }: Tried,
  { sections, list }: TryParts,
): Section & { readonly entry: string } {
  const { entry, tails } = list(fieldsOf(task['catch'])['do']);
  if (entry !== undefined) return { entry, tails };
  const key = sections.ids.unused(`${name}_caught`);
  const known = { key, source: `${name} (catch)`, type: 'catch', settings: {} };
  const data = { mode: 'first', inputs: [placeholderText(own)] };
  sections.add(key, known, { node: { type: 'Merge', data }, status: 'exact' });
  return { entry: key, tails: [{ from: key, place: { root: key, steps: ['merged'] } }] };
}

/** Says what of a `catch` is not as it was; answers warnings. */
function noteCatch(
  handling: Fields,
  inside: readonly DraftStep[],
  { sections, use }: TryParts,
): readonly string[] {
  const narrowed = ['errors', 'when', 'exceptWhen'].some((word) => handling[word] !== undefined);
  const note = 'every failure is caught, not only those that it names';
  if (narrowed) sections.adapt(inside, note);
  const lost = droppedOfRetry(handling['retry'], use);
  if (lost.length > 0) sections.adapt(inside, `of its retry is left out: ${lost.join(', ')}`);
  if (handling['retry'] !== undefined && inside.length > 1) {
    sections.adapt(inside, 'each step is tried again by itself');
  }
  return narrowed ? [note] : [];
}

/** Whether tasks within run more than once or at once. */
export function holdsMany(tasks: unknown): boolean {
  return namedTasks(tasks).some(({ task }) => {
    if (kindOf(task) === 'for' || kindOf(task) === 'fork') return true;
    return [task['do'], task['try'], fieldsOf(task['catch'])['do']].some(holdsMany);
  });
}

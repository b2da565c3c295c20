import { fieldsOf, textOf, type Fields } from '../fields.ts';
import { placeholderText, within, type DataPlace } from '../paths.ts';
import { placeOfJq, type JqSight } from './jq.ts';
import type { Made, Section, Sections } from './sections.ts';
import { asOwn, kindOf, mapTask, timeoutOf, type MappedTask } from './tasks.ts';

interface SimpleTask {
  readonly id: string;
  readonly name: string;
  readonly task: Fields;
  readonly sight: JqSight;
}

interface SimpleParts {
  readonly sections: Sections;
  /** What the document names. */
  readonly use: Fields;
}

/** A task that holds no others: its node, and a Merge where its output is not what the node gives. */
export function simpleSection(given: SimpleTask, { sections, use }: SimpleParts): Section {
  const { id, name, task, sight } = given;
  let place = sight.own;
  let output: Fields | undefined;
  sections.tried(id, { key: id, source: name, type: kindOf(task), settings: task }, () =>
    noting(sight, (seen) => {
      const mapped = asOwn(task, mapTask(task, seen));
      if (mapped.data) place = { root: id, steps: mapped.data };
      output = outputOf(task, { mapped, place, sight });
      return boundTask(task, mapped, use);
    }),
  );
  if (!output) return { entry: id, tails: [{ from: id, place }] };
  const key = sections.ids.unused(`${name}_output`);
  const known = { key, source: `${name} (output)`, type: 'output', settings: {} };
  sections.add(key, known, { node: { type: 'Merge', data: output }, status: 'exact' });
  sections.link({ from: id }, key);
  return { entry: id, tails: [{ from: key, place: { root: key, steps: ['merged'] } }] };
}

/** What is made, with what its expressions say of themselves. */
export function noting(sight: JqSight, make: (sight: JqSight) => Made): Made {
  const differences = new Set<string>();
  const made = make({ ...sight, note: (difference) => differences.add(difference) });
  if (differences.size === 0 || made.status === 'unsupported') return made;
  const notes = [...(made.note === undefined ? [] : [made.note]), ...differences];
  return { ...made, status: 'adapted', note: notes.join('; ') };
}

/** Names of the schemas that data is held against. */
export function schemasOf(parts: Fields): readonly string[] {
  return Object.entries(parts).flatMap(([name, part]) =>
    fieldsOf(part)['schema'] === undefined ? [] : [`${name}.schema`],
  );
}

interface OutputGiven {
  readonly mapped: MappedTask;
  readonly place: DataPlace;
  readonly sight: JqSight;
}

/** Settings of the Merge that makes an output; undefined where that of the node is right. */
function outputOf(task: Fields, { mapped, place, sight }: OutputGiven): Fields | undefined {
  const { as: expression } = fieldsOf(task['output']);
  const names = Object.entries(mapped.shape ?? {});
  if (expression === undefined) {
    const fields = names.map(([name, at]) => [name, placeholderText(within(place, [at]))] as const);
    return mapped.shape && { inputs: Object.fromEntries(fields) };
  }
  const aliases = names.map(([name, at]) => ({ from: [name], to: [at] }));
  const found = placeOfJq(textOf(expression), { ...sight, own: { ...place, aliases } });
  return { mode: 'first', inputs: [placeholderText(found)] };
}

/** Kinds of tasks whose nodes end when their time is over. */
const bounded = new Set(['call', 'set', 'wait', 'run']);

/** A task with its timeout, and with what is left out of it. */
// Each case is one line.
// oxlint-disable-next-line complexity
function boundTask(task: Fields, mapped: MappedTask, use: Fields): Made {
  const { node, status, note } = mapped;
  const kind = kindOf(task);
  const after = timeoutOf(task['timeout'], use);
  const isBounded = after !== undefined && bounded.has(kind);
  const lost = [
    ...(task['export'] === undefined ? [] : ['export']),
    ...(task['timeout'] === undefined || isBounded ? [] : ['timeout']),
    ...schemasOf({ input: task['input'], output: task['output'] }),
  ];
  const said = [note ?? [], lost.length > 0 ? `left out: ${lost.join(', ')}` : []].flat();
  return {
    ...(node ? { node: isBounded ? { ...node, timeout: after } : node } : {}),
    status: status === 'exact' && lost.length > 0 ? 'adapted' : status,
    ...(said.length > 0 ? { note: said.join('; ') } : {}),
  };
}

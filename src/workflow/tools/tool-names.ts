import { toIdentifier } from '../interop/node-ids.ts';

/** Characters that clients take of a name, less those of the mark behind it. */
const nameLengthMax = 48;
const markLength = 8;

/** A workflow that is a tool. */
export interface NamedWorkflow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

/**
 * Names for workflows as tools: a word made of the workflow's name. Of several with the same word the
 * oldest has it, and the others have a mark of their id behind it, which never changes.
 */
export function nameTools<W extends NamedWorkflow>(
  workflows: readonly W[],
): ReadonlyMap<string, W> {
  const named = new Map<string, W>();
  const byAge = workflows.toSorted(
    (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1),
  );
  for (const workflow of byAge) {
    const word = wordOf(workflow.name);
    named.set(named.has(word) ? markedName(workflow) : word, workflow);
  }
  return named;
}

/** The name that a workflow answers to whichever others there are. */
export function markedName({ id, name }: Pick<NamedWorkflow, 'id' | 'name'>): string {
  return `${wordOf(name)}_${id
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(-markLength)
    .toLowerCase()}`;
}

function wordOf(name: string): string {
  const word = toIdentifier(name).slice(0, nameLengthMax).replace(/_+$/, '');
  return word === 'step' ? 'workflow' : word.replace(/^step_/, '');
}

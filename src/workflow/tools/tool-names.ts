import { toIdentifier } from '../interop/node-ids.ts';

/** Characters that clients take of a name, less those of the mark behind it. */
const nameLengthMax = 48;
const markLength = 8;

/** A workflow that is a tool. */
export interface NamedWorkflow {
  readonly id: string;
  readonly name: string;
  /** Since when it is a tool of this name. */
  readonly namedAt: Date;
}

/**
 * Names for workflows as tools: a word made of the workflow's name. Of several with the same word the
 * first has it, as long as it is there; the others have a mark of their id behind it, which never
 * changes.
 */
export function nameTools<W extends NamedWorkflow>(
  workflows: readonly W[],
): ReadonlyMap<string, W> {
  const marked = new Set(workflows.map(markedName));
  const named = new Map<string, W>();
  const byAge = workflows.toSorted(
    (a, b) => a.namedAt.getTime() - b.namedAt.getTime() || (a.id < b.id ? -1 : 1),
  );
  for (const workflow of byAge) {
    const word = wordOf(workflow.name);
    const isFree = !named.has(word) && !marked.has(word);
    named.set(isFree ? word : markedName(workflow), workflow);
  }
  return named;
}

/** The workflow that answers to a name; what one answers to by its mark is nobody else's. */
export function findTool<W extends NamedWorkflow>(
  workflows: readonly W[],
  name: string,
): W | undefined {
  return workflows.find((one) => markedName(one) === name) ?? nameTools(workflows).get(name);
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

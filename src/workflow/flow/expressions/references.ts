/** A step of a path that an expression follows: a name, or `undefined` where it is computed. */
export type PathStep = string | undefined;

/** What an expression reads. */
export interface References {
  /** Ids of nodes. */
  readonly nodes: ReadonlySet<string>;
  /** Keys of the execution's inputs. */
  readonly inputs: ReadonlySet<string>;
  /** Whether it reads `loop`: the round of a Loop, and outside of Loops a node of that name. */
  readonly usesLoop: boolean;
  /** Whether it reads of `loop` what only the node has. */
  readonly usesLoopNode: boolean;
}

const rounds = ['item', 'index'];
const executions = ['id', 'workflowId'];

/** Gathers what expressions read, and what in it leads nowhere. */
export class ReferenceList implements References {
  readonly nodes = new Set<string>();
  readonly inputs = new Set<string>();
  usesLoop = false;
  usesLoopNode = false;
  /** Sentences on names that stand for nothing. */
  readonly problems: string[] = [];
  readonly #isNode: (id: string) => boolean;

  constructor(isNode: (id: string) => boolean) {
    this.#isNode = isNode;
  }

  /** Takes in a path: its first name and the step behind it, if there is one. */
  add(root: string, next: PathStep, hasNext: boolean): void {
    if (root === 'nodes') this.#addNode(next);
    else if (root === 'inputs') this.#addInput(next);
    else if (root === 'loop') this.#addLoop(next, hasNext);
    else if (root === 'execution') this.#requireField(root, next, executions);
    else if (this.#isNode(root)) this.nodes.add(root);
    else this.problems.push(`there is no node, input or variable "${clip(root)}"`);
  }

  #addNode(id: PathStep): void {
    if (id === undefined) {
      this.problems.push('`nodes` must be followed by an id that is written out: nodes["id"]');
    } else if (this.#isNode(id)) this.nodes.add(id);
    else this.problems.push(`there is no node "${clip(id)}"`);
  }

  #addInput(name: PathStep): void {
    if (name !== undefined) this.inputs.add(name);
  }

  #addLoop(field: PathStep, hasField: boolean): void {
    this.usesLoop = true;
    if (!hasField) return;
    if (!this.#isNode('loop')) this.#requireField('loop', field, rounds);
    else if (field === undefined || !rounds.includes(field)) this.usesLoopNode = true;
  }

  #requireField(root: string, field: PathStep, known: readonly string[]): void {
    if (field !== undefined && known.includes(field)) return;
    this.problems.push(`${root} has only ${known.join(' and ')}`);
  }
}

/** The ids of all nodes that an expression reads, within a Loop or outside of all. */
export function idsReadBy({ nodes, usesLoop }: References, isInLoop: boolean): readonly string[] {
  return usesLoop && !isInLoop ? [...nodes, 'loop'] : [...nodes];
}

function clip(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name;
}

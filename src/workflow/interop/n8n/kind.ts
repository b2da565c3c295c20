import type { DraftNode } from '../draft.ts';
import type { DataPlace } from '../paths.ts';
import type { StepStatus } from '../report.ts';
import type { N8nNode } from './document.ts';
import type { Sight } from './expressions.ts';

/** A node of n8n with what its surroundings say of it. */
export interface N8nReading {
  readonly node: N8nNode;
  readonly id: string;
  readonly sight: Sight;
  /** What comes in, in the order of its inputs, by the id of where it comes from. */
  readonly incoming: readonly Incoming[];
  /** What other nodes are to it: its model, its tools, … */
  readonly attached: readonly { readonly kind: string; readonly node: N8nNode }[];
  /** A setting in our language; Fault `invalid` (`not_translatable`). */
  read(name: string): unknown;
  /** The same as a text, undefined where it is empty. */
  readText(name: string): string | undefined;
}

export interface Incoming {
  readonly id: string;
  readonly place: DataPlace;
  /** From 0. */
  readonly input: number;
}

/** What a node becomes: a node, or nothing that is joined over (`passed`). */
export interface Mapped {
  readonly node?: DraftNode;
  readonly status?: StepStatus;
  readonly note?: string;
}

/** What is known of a type of nodes. */
export interface N8nKind {
  map(reading: N8nReading): Mapped;
  /** Where its data is afterwards; the whole output of its node when absent. */
  place?(given: PlaceGiven): DataPlace;
  /** On which handle an output leaves; none when absent. */
  handle?(node: N8nNode, output: number): string | undefined;
  /** When an output is left on, as CEL, for what may leave on several; Fault `invalid` (`not_translatable`). */
  condition?(reading: N8nReading, output: number): string | undefined;
  /** How many outputs it has beside that for errors; one when absent. */
  outputs?(node: N8nNode): number;
  /** Whether it may be left on an output; on all of them when absent. */
  hasOutput?(node: N8nNode, output: number): boolean;
  /** Whether it starts workflows. */
  readonly isTrigger?: boolean;
}

export interface PlaceGiven {
  readonly node: N8nNode;
  readonly id: string;
  readonly output: number;
  /** What comes in. */
  readonly own: () => DataPlace;
}

/** Its data is what came in. */
export const passesData = ({ own }: PlaceGiven): DataPlace => own();

/** Its data lies in one field of the output. */
export function dataIn(...steps: readonly string[]): (given: PlaceGiven) => DataPlace {
  return ({ id }) => ({ root: id, steps });
}

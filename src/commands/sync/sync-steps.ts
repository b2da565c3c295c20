import type { LocalState } from './sync-folder.ts';
import type { BaseFile } from './sync-index.ts';

/** What is to be done about a path. */
export interface Step {
  /** `conflict`: both sides have changed it. */
  readonly kind: 'send' | 'take' | 'conflict';
  readonly path: string;
  readonly here: LocalState;
  /** Absent: it is deleted there. */
  readonly there: BaseFile | undefined;
  /** Of what is there. */
  readonly size: number;
}

/** Up to here a content goes together with others. */
export const inlineBytesMax = 256 * 1024;
const batchBytesMax = 4 * 1024 * 1024;
const batchStepsMax = 500;

/** What of a step goes with its change. */
export function sizeHere({ here }: Step): number {
  return here.kind === 'file' && here.size <= inlineBytesMax ? here.size : 0;
}

/** Steps that go in one request each, in their order. */
export function cutBatches(steps: readonly Step[], sizeOf: (step: Step) => number): Step[][] {
  const batches: Step[][] = [];
  let batch: Step[] = [];
  let bytes = 0;
  for (const step of steps) {
    const size = sizeOf(step);
    if (batch.length === batchStepsMax || (batch.length > 0 && bytes + size > batchBytesMax)) {
      batches.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(step);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** Whether a path holds here what it holds, or held, elsewhere. */
export function isLike(here: LocalState, file: BaseFile | undefined): boolean {
  if (here.kind === 'file') return isEqual(here, file);
  return here.kind === 'nothing' && file === undefined;
}

export function isEqual(one: BaseFile | undefined, other: BaseFile | undefined): boolean {
  return one?.hash === other?.hash && one?.executable === other?.executable;
}

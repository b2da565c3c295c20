import { Fault } from '../../../kit/errors.ts';
import type { PlannedEdge } from '../../flow/plan.ts';
import type { NodeShape } from './flow-shape.ts';
import type { Frame, Step } from './walk-frame.ts';

/** Whether a node that ended goes on along an edge; on `error` only along edges for it. */
export function isTaken(step: Step, { sourceHandle }: PlannedEdge): boolean {
  if (sourceHandle === undefined) return step.handle !== 'error';
  const isControl = step.shape.planned.component.control !== undefined;
  if (isControl && step.handle === undefined) return sourceHandle !== 'error';
  return sourceHandle === step.handle;
}

/** Whether an edge is taken only where its source failed; a Parallel's others are taken when it begins. */
export function isErrorEdge({ sourceHandle }: PlannedEdge): boolean {
  return sourceHandle === 'error';
}

/** Whether an edge of a Loop leads into its body. */
export function isBodyEdge({ sourceHandle }: PlannedEdge): boolean {
  return sourceHandle === undefined || sourceHandle === 'body';
}

/** Outputs of the nodes that led to a node, by id, in the order of its edges. */
export function predecessorsOf({ shape, frame }: Step): Readonly<Record<string, unknown>> {
  const outputs: Record<string, unknown> = {};
  for (const edge of shape.incoming) {
    const source = frame.steps.get(edge.source);
    if (source?.state === 'done' && isTaken(source, edge)) outputs[edge.source] = source.output;
  }
  return outputs;
}

/** What led back to the Loop: one node's output, or of several an object by id. */
export function roundResult(loop: Step, frame: Frame): unknown {
  const back = loop.shape.planned.body?.back ?? [];
  const sources = new Set(back.map(({ source }) => source));
  const outputs: Record<string, unknown> = {};
  for (const edge of back) {
    const source = frame.steps.get(edge.source);
    const isBack = source?.state === 'done' && isTaken(source, edge) && edge.isOpen(frame.scope);
    if (isBack) outputs[edge.source] = source.output;
  }
  const [only] = sources;
  return sources.size === 1 && only !== undefined ? (outputs[only] ?? null) : outputs;
}

/** The handle on which a pinned node ends: `error` with `{error}` where it goes on so, else as its output says. */
export function pinnedHandle({ shape }: Step, output: unknown): string | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const { node, component } = shape.planned;
  const isFailure = node.onError === 'continue' && 'error' in output;
  if (isFailure && hasErrorWay(shape)) return 'error';
  return component.handleOf?.({ ...output });
}

/** Whether something follows the failure of a node. */
export function hasErrorWay({ outgoing }: NodeShape): boolean {
  return outgoing.some(({ sourceHandle }) => sourceHandle === 'error');
}

const itemsMax = 10_000;
const roundsAtOnceMax = 100;

/** The items of a Loop, and how many rounds run at once; Fault `invalid` when it cannot be run. */
export function roundsOf({ items, concurrency }: Readonly<Record<string, unknown>>): {
  readonly items: readonly unknown[];
  readonly atOnce: number;
} {
  if (!Array.isArray(items)) throw loopFault('the items of a loop are a list', 'bad_items');
  if (items.length > itemsMax) {
    throw loopFault(`a loop has at most ${itemsMax} items`, 'too_many_items');
  }
  const asked = typeof concurrency === 'number' ? Math.floor(concurrency) : 1;
  return { items, atOnce: Math.min(Math.max(1, asked), roundsAtOnceMax) };
}

function loopFault(message: string, reason: string): Fault {
  return new Fault('invalid', message, { reason });
}

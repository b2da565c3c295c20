import { Fault } from '../../kit/errors.ts';
import type { PlannedEdge } from '../flow/plan.ts';
import type { Frame, Step } from './walk-frame.ts';

/** The execution's inputs for one node. */
export function inputsFor(
  inputs: Readonly<Record<string, unknown>>,
  nodeId: string,
): Readonly<Record<string, unknown>> | undefined {
  const own = Object.hasOwn(inputs, nodeId) ? inputs[nodeId] : undefined;
  const isObject = typeof own === 'object' && own !== null && !Array.isArray(own);
  // An object that is no list has names and values.
  return isObject ? (own as Readonly<Record<string, unknown>>) : undefined;
}

/** Whether a node that ended goes on along an edge; on `error` only along edges for it. */
export function isTaken(step: Step, { sourceHandle }: PlannedEdge): boolean {
  if (sourceHandle === undefined) return step.handle !== 'error';
  const isControl = step.shape.planned.component.control !== undefined;
  if (isControl && step.handle === undefined) return sourceHandle !== 'error';
  return sourceHandle === step.handle;
}

/** Whether an edge of a Loop leads into its body. */
export function isBodyEdge({ sourceHandle }: PlannedEdge): boolean {
  return sourceHandle === undefined || sourceHandle === 'body';
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

/** A pinned condition ends on the handle that its result names. */
export function pinnedHandle(output: unknown): string | undefined {
  const { result } = (output ?? {}) as { readonly result?: unknown };
  return typeof result === 'boolean' ? String(result) : undefined;
}

/** The refusal of a Loop that cannot be run. */
export function loopFault(message: string, reason: string): Fault {
  return new Fault('invalid', message, { reason });
}

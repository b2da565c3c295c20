import type { FaultList } from './fault-list.ts';
import type { ReadNode } from './reading.ts';
import type { FlowEdge, FlowFault, FlowNode, Retry } from './flow.ts';
import { forbiddenKeys } from './limits.ts';

const attemptsMax = 20;
const delayMsMax = 60 * 60_000;
const backoffs: ReadonlySet<string> = new Set(['exponential', 'linear', 'fixed']);
const timeoutMsMax = 7 * 24 * 60 * 60_000;
/** What expressions see beside the nodes; `loop` is a node outside of Loops. */
const reservedIds: ReadonlySet<string> = new Set(['inputs', 'nodes', 'execution']);
const idPattern = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}$/;

/** Adds what is wrong with a node on its own, settings aside. */
export function checkNode({ id, retry, timeout }: FlowNode, faults: FaultList): void {
  if (forbiddenKeys.has(id)) {
    faults.add({ code: 'BAD_ID', message: `no node may be called ${id}`, nodeId: id });
  } else if (!idPattern.test(id)) {
    const message = 'an id has up to 64 letters, digits and _ - . :, and begins with none of - . :';
    faults.add({ code: 'BAD_ID', message, nodeId: id.slice(0, 64) });
  }
  if (reservedIds.has(id)) {
    const message = `an id may not be ${id}: placeholders and conditions mean something else by it`;
    faults.add({ code: 'BAD_ID', message, nodeId: id });
  }
  if (timeout !== undefined && !isWithin(timeout, 1, timeoutMsMax)) {
    const message = `timeout must be from 1 to ${timeoutMsMax} ms`;
    faults.add({ code: 'BAD_TIMEOUT', message, nodeId: id });
  }
  for (const message of retry ? findWrongRetry(retry) : []) {
    faults.add({ code: 'BAD_RETRY', message, nodeId: id });
  }
}

function findWrongRetry(retry: Retry): readonly string[] {
  const { maxAttempts, initialDelay, maxDelay = 0, backoff } = retry;
  const wrong: string[] = [];
  if (!isWithin(maxAttempts, 1, attemptsMax)) {
    wrong.push(`maxAttempts must be a whole number from 1 to ${attemptsMax}`);
  }
  for (const [name, delay] of Object.entries({ initialDelay, maxDelay })) {
    if (isWithin(delay, 0, delayMsMax)) continue;
    wrong.push(`${name} must be a whole number from 0 to ${delayMsMax} ms`);
  }
  if (!backoffs.has(backoff)) wrong.push('backoff must be exponential, linear or fixed');
  return wrong;
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

/** What is wrong with the handle on which an edge leaves. */
export function checkEdge({
  edge,
  index,
  source,
  isBodyEdge,
}: {
  readonly edge: FlowEdge;
  readonly index: number;
  readonly source: ReadNode;
  /** It leads from a Loop into its body. */
  readonly isBodyEdge: boolean;
}): FlowFault[] {
  const { sourceHandle: handle } = edge;
  if (handle === undefined) return [];
  const handles = handlesOf(source, isBodyEdge);
  if (handles.includes(handle)) return [];
  const nodeId = source.node.id;
  const message = handlesOf(source, !isBodyEdge).includes(handle)
    ? misledFrom(edge, isBodyEdge)
    : `${nodeId} never ends on the handle ${JSON.stringify(handle.slice(0, 64))}; ${offered(source, handle, handles)}`;
  return [{ code: 'UNKNOWN_HANDLE', message, nodeId, edge: index }];
}

/** Why an edge of a Loop cannot lead where it does, on a handle that the Loop has. */
function misledFrom({ source, target, sourceHandle }: FlowEdge, isBodyEdge: boolean): string {
  return isBodyEdge
    ? `${target} lies in the body of the Loop ${source}, as a way leads from it back to ${source}: the edge on ${sourceHandle} must lead out of the body`
    : `${target} does not lie in the body of the Loop ${source}: no way leads from it back to ${source}`;
}

function offered(source: ReadNode, handle: string, handles: readonly string[]): string {
  if (handle === 'error' && source.node.onError !== 'continue') {
    return 'it does with "onError": "continue"';
  }
  return handles.length > 0 ? `it ends on ${handles.join(', ')}` : 'it has no handles';
}

function handlesOf({ node, component }: ReadNode, isBodyEdge: boolean): readonly string[] {
  const onError = node.onError === 'continue' && !isBodyEdge ? ['error'] : [];
  if (component.control === 'loop') return isBodyEdge ? ['body'] : ['done', ...onError];
  const { handles = [] } = component;
  return [...(typeof handles === 'function' ? handles(node.data) : handles), ...onError];
}

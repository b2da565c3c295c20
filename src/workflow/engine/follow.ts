import { Fault } from '../../kit/errors.ts';
import type { EventHub, Following } from './events.ts';
import { readEvents, readExecution } from './journal/executions-store.ts';
import { readOutputs } from './journal/node-runs-store.ts';
import type { ExecutionEvent } from './execution.ts';
import type { EngineSql } from './journal/journal-store.ts';
import { nodeKey } from './journal/journal-row.ts';
import { readShownOutput } from './journal/output-secrets.ts';

/** How often an execution that may run elsewhere is looked at. */
const pollMs = 500;

/** Events behind a seq from the database, then those that come, until the execution has ended. */
export async function* followExecution(
  { sql, hub }: { readonly sql: EngineSql; readonly hub: EventHub },
  executionId: string,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<ExecutionEvent> {
  using following = hub.follow(executionId);
  let last = after;
  while (!signal.aborted) {
    // Asked before its events are read: what ended has no events behind those.
    const stored = await readExecution(sql, executionId);
    if (!stored) throw executionNotFound();
    for await (const event of replay(sql, executionId, last)) {
      last = event.seq;
      yield event;
      if (signal.aborted) return;
    }
    if (stored.completedAtMs !== undefined) return;
    last = yield* live(following, last, signal);
  }
}

/** The refusal for an execution that is not there, or is not the caller's. */
export function executionNotFound(): Fault {
  return new Fault('not_found', 'there is no such execution', { reason: 'execution_not_found' });
}

/** Hands on what this process stores until something is missing, is quiet, or ends. */
async function* live(
  following: Following,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<ExecutionEvent, number> {
  let last = after;
  for (;;) {
    await following.wait(pollMs, signal);
    const events = following.take().filter(({ seq }) => seq > last);
    if (events.length === 0) return last;
    for (const event of events) {
      if (event.seq !== last + 1) return last;
      last = event.seq;
      yield event;
      if (isEnd(event)) return last;
    }
  }
}

function isEnd({ type }: ExecutionEvent): boolean {
  return type.startsWith('workflow-');
}

async function* replay(
  sql: EngineSql,
  executionId: string,
  after: number,
): AsyncGenerator<ExecutionEvent> {
  for (let last = after; ;) {
    const events = await readEvents(sql, executionId, last);
    if (events.length === 0) return;
    const outputs = await outputsOf(sql, executionId, events);
    for (const event of events) {
      last = event.seq;
      yield withOutput({ ...event, executionId }, outputs);
    }
  }
}

async function outputsOf(
  sql: EngineSql,
  executionId: string,
  events: readonly Omit<ExecutionEvent, 'executionId'>[],
): Promise<ReadonlyMap<string, string>> {
  const outputs = new Map<string, string>();
  const nodes = events.flatMap(({ type, nodeId, iteration = '' }) =>
    type === 'node-completed' && nodeId !== undefined ? [{ nodeId, iteration }] : [],
  );
  for (const { nodeId, iteration, output } of await readOutputs(sql, executionId, nodes)) {
    outputs.set(nodeKey(nodeId, iteration), output);
  }
  if (events.some(({ type }) => type === 'workflow-completed')) {
    const stored = await readExecution(sql, executionId);
    outputs.set('', JSON.stringify(stored?.outcome?.result ?? {}));
  }
  return outputs;
}

/** Outputs stand with the nodes, so that they are stored once. */
function withOutput(event: ExecutionEvent, outputs: ReadonlyMap<string, string>): ExecutionEvent {
  const { type, nodeId = '', iteration = '' } = event;
  if (type === 'workflow-completed') return { ...event, result: readShownOutput(outputs.get('')) };
  if (type !== 'node-completed') return event;
  return { ...event, output: readShownOutput(outputs.get(nodeKey(nodeId, iteration))) };
}

import { silentLog } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import type { ComponentTable, NodeContext } from './component.ts';
import { openComponents } from './table.ts';

/** A context for a node that is run alone, in tests; the span goes nowhere. */
export function createContext(fields: Partial<NodeContext> = {}): NodeContext {
  return {
    executionId: 'exe_1',
    workflowId: 'wfl_1',
    nodeId: 'node',
    iteration: '',
    attempt: 1,
    idempotencyKey: 'exe_1:node:',
    signal: new AbortController().signal,
    timeoutMs: 5_000,
    ownerId: 'usr_1',
    callerToken: async () => undefined,
    predecessors: {},
    span: new Tracer(() => {}).start('node'),
    log: silentLog,
    ...fields,
  };
}

/** All components, none of which reaches anything: for what only reads their schemas. */
export function openIdleComponents(): ComponentTable {
  const unreachable = new Proxy({}, { get: refuse });
  // Whatever it is taken for, nothing of it is there.
  const nothing = unreachable as never;
  return openComponents({
    ai: { collections: nothing, gateway: nothing, models: nothing },
    cms: { url: undefined },
    tools: { registry: nothing, mesh: nothing, idp: { apiUrl: undefined, readToken: refuse } },
    logic: { now: () => 0, approvalLink: refuse, starter: refuse, requireNameable: refuse },
    data: { egress: nothing, transformer: nothing, filesRoot: undefined },
  });
}

function refuse(): never {
  throw new Error('this component reaches nothing');
}

import { spanKinds } from '../../src/tracer/trace/span.ts';

const { internal, server, client, producer, consumer } = spanKinds;

/** What a span is about, which decides its attributes. */
export type Topic = 'internal' | 'http' | 'db' | 'genai' | 'tool' | 'msg';

/** What a service does, and what it calls meanwhile. */
export interface Operation {
  readonly service: string;
  readonly name: string;
  /** One of `spanKinds`. */
  readonly kind: number;
  readonly topic: Topic;
  /** Median of the time that it takes itself. */
  readonly medianMs: number;
  readonly calls: readonly PossibleCall[];
}

interface PossibleCall {
  readonly operation: Operation;
  readonly probability: number;
  /** How often it may happen. */
  readonly times: number;
}

export const services = [
  'gateway',
  'auth',
  'agent-runtime',
  'llm-proxy',
  'tool-exec',
  'vector-store',
  'memory',
  'billing',
  'scheduler',
] as const;

type Service = (typeof services)[number];

/** What begins traces, and the share of them that each begins. */
export const roots: readonly { readonly operation: Operation; readonly share: number }[] = [
  { operation: invokeAgent(), share: 0.62 },
  { operation: listAgents(), share: 0.28 },
  { operation: sweep(), share: 0.1 },
];

function invokeAgent(): Operation {
  const calls = [maybe(verifyToken(), 0.9), maybe(runAgent(), 1), maybe(sendBill(), 0.4)];
  return served('gateway', 'POST /v1/agents/{id}/invoke', 3, calls);
}

function listAgents(): Operation {
  const calls = [maybe(verifyToken(), 0.9), maybe(query('gateway', 'SELECT agents', 3), 1)];
  return served('gateway', 'GET /v1/agents', 2, calls);
}

function sweep(): Operation {
  const inner = [maybe(callModel(), 0.9), maybe(readMemory(), 0.8)];
  const invoke = served('agent-runtime', 'POST /agents/{id}/invoke', 6, inner);
  return {
    service: 'scheduler',
    name: 'cron sweep',
    kind: internal,
    topic: 'internal',
    medianMs: 8,
    calls: [
      maybe(query('scheduler', 'SELECT due_jobs', 4), 1),
      maybe(call('scheduler', invoke), 0.6),
    ],
  };
}

function verifyToken(): Operation {
  const calls = [maybe(query('auth', 'SELECT tokens', 1), 0.5)];
  return call('gateway', served('auth', 'POST /token/verify', 2, calls));
}

function runAgent(): Operation {
  const calls = [
    maybe(readMemory(), 0.8),
    maybe(searchVectors(), 0.5),
    maybe(callModel(), 0.75, 2),
    maybe(runTool(), 0.35, 2),
  ];
  return call('gateway', served('agent-runtime', 'POST /agents/{id}/invoke', 6, calls));
}

function readMemory(): Operation {
  const calls = [maybe(query('memory', 'SELECT sessions', 1.2), 1)];
  return call('agent-runtime', served('memory', 'GET /sessions/{id}', 2, calls));
}

function searchVectors(): Operation {
  const calls = [maybe(query('vector-store', 'SELECT knn', 14), 1)];
  return call('agent-runtime', served('vector-store', 'POST /query', 6, calls));
}

function callModel(): Operation {
  const calls = [
    maybe(chat('gpt-4o'), 0.5),
    maybe(chat('claude-sonnet-4'), 0.3),
    maybe(chat('gpt-4o-mini'), 0.2),
  ];
  return call('agent-runtime', served('llm-proxy', 'POST /v1/chat/completions', 4, calls));
}

function runTool(): Operation {
  const orders = [maybe(query('tool-exec', 'SELECT orders', 9), 1, 2)];
  const calls = [maybe(tool('web_search', 180), 0.4), maybe(tool('sql_query', 20, orders), 0.4)];
  return call('agent-runtime', served('tool-exec', 'POST /tools/{name}/run', 12, calls));
}

function sendBill(): Operation {
  const process: Operation = {
    service: 'billing',
    name: 'billing.events process',
    kind: consumer,
    topic: 'msg',
    medianMs: 5,
    calls: [maybe(query('billing', 'INSERT usage', 2), 1)],
  };
  return {
    service: 'gateway',
    name: 'billing.events send',
    kind: producer,
    topic: 'msg',
    medianMs: 0.4,
    calls: [maybe(process, 1)],
  };
}

function maybe(operation: Operation, probability: number, times = 1): PossibleCall {
  return { operation, probability, times };
}

function served(
  service: Service,
  name: string,
  medianMs: number,
  calls: readonly PossibleCall[],
): Operation {
  return { service, name, kind: server, topic: 'http', medianMs, calls };
}

/** The caller's side of a request. */
function call(service: Service, to: Operation): Operation {
  const { name } = to;
  return { service, name, kind: client, topic: 'http', medianMs: 1.5, calls: [maybe(to, 1)] };
}

function query(service: Service, name: string, medianMs: number): Operation {
  return { service, name, kind: client, topic: 'db', medianMs, calls: [] };
}

function chat(model: string): Operation {
  const name = `chat ${model}`;
  return { service: 'llm-proxy', name, kind: client, topic: 'genai', medianMs: 900, calls: [] };
}

function tool(name: string, medianMs: number, calls: readonly PossibleCall[] = []): Operation {
  const service = 'tool-exec';
  return { service, name: `execute_tool ${name}`, kind: internal, topic: 'tool', medianMs, calls };
}

import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type Client } from './client.ts';
import type { Contract } from './contract.ts';
import { plainEnvelope, type Envelope } from './envelope.ts';
import { Fault } from './errors.ts';
import type { Handlers } from './http/call.ts';
import { EventStream } from './answers/sse.ts';
import { createTestServer, listenAnywhere } from './testing.ts';
import { Tracer, type SpanRecord } from './trace/trace.ts';

const Count = Type.Object({ n: Type.Integer() });

const contract = {
  name: 'counts',
  title: 'Counts',
  version: '1.0.0',
  description: 'Counts for tests.',
  error: plainEnvelope.schema,
  routes: {
    add: {
      method: 'POST',
      url: '/counts/:name',
      summary: 'Add',
      schema: {
        params: Type.Object({ name: Type.String() }),
        query: Type.Object({ times: Type.Optional(Type.Integer()) }),
        body: Count,
        response: { 201: Type.Object({ name: Type.String(), n: Type.Integer() }) },
      },
    },
    watch: {
      method: 'GET',
      url: '/watch/:failAt',
      summary: 'Watch',
      schema: {
        params: Type.Object({ failAt: Type.Integer() }),
        response: { 200: Count },
        stream: Count,
      },
    },
    refuse: {
      method: 'GET',
      url: '/refuse',
      summary: 'Refuse',
      schema: { response: { 200: Count } },
    },
    hang: { method: 'GET', url: '/hang', summary: 'Hang', schema: { response: { 200: Count } } },
  },
} as const satisfies Contract;

let isHangAborted = false;

const handlers: Handlers<typeof contract> = {
  add: ({ params, query, body }) => ({ name: params.name, n: body.n * (query.times ?? 1) }),
  watch: ({ params }) => new EventStream(watch(params.failAt)),
  refuse: () => {
    throw new Fault('exhausted', 'not now', {
      reason: 'too_many',
      retryAfter: 7,
      detail: { limit: 3 },
    });
  },
  hang: ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        isHangAborted = true;
        reject(new Fault('cancelled', 'gone'));
      });
    }),
};

async function* watch(failAt: number) {
  for (let n = 0; n < 3; n += 1) {
    if (n === failAt) throw new Fault('upstream', 'broken', { reason: 'source_broke' });
    yield { data: JSON.stringify({ n }) };
  }
  yield { data: '[DONE]' };
}

let server: Awaited<ReturnType<typeof createTestServer>>;
let baseUrl: string;
let client: Client<typeof contract>;
const spans: SpanRecord[] = [];
const tracer = new Tracer((span) => spans.push(span));

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, handlers);
  baseUrl = await listenAnywhere(server.http);
  client = createClient(contract, { baseUrl, tracer, token: () => server.issuer.sign() });
});

afterAll(() => server.http.close(100));

test('a refusal comes back as the Fault that was thrown', async () => {
  await expect(client.refuse({})).rejects.toMatchObject({
    code: 'exhausted',
    message: 'not now',
    reason: 'too_many',
    retryAfter: 7,
  });
});

test('so does one of a service that says a sentence and a code, and knows few statuses', async () => {
  const envelope: Envelope = {
    schema: Type.Object({ error: Type.String(), code: Type.String() }),
    statusOf: () => 503,
    wrap: ({ message, reason }) => ({ error: message, code: reason?.toUpperCase() }),
  };
  const plain = await createTestServer(contract, { envelope });
  plain.http.serve(contract, handlers);
  const plainUrl = await listenAnywhere(plain.http);
  const token = () => plain.issuer.sign();
  const caller = createClient(contract, { baseUrl: plainUrl, token, tracer: new Tracer(() => {}) });
  await expect(caller.refuse({})).rejects.toMatchObject({
    code: 'unavailable',
    message: 'not now',
    reason: 'too_many',
  });
  await plain.http.close(0);
});

test('so does one in the words of JSON-RPC, whose codes are numbers', async () => {
  const envelope: Envelope = {
    schema: Type.Object({ error: Type.Object({ code: Type.Integer(), message: Type.String() }) }),
    statusOf: () => 400,
    wrap: ({ message }) => ({ error: { code: -32_602, message } }),
  };
  const rpc = await createTestServer(contract, { envelope });
  rpc.http.serve(contract, handlers);
  const rpcUrl = await listenAnywhere(rpc.http);
  const token = () => rpc.issuer.sign();
  const caller = createClient(contract, { baseUrl: rpcUrl, token, tracer: new Tracer(() => {}) });
  const refused = await caller.refuse({}).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'invalid', message: 'not now' });
  expect(refused).not.toHaveProperty('reason', expect.anything());
  await rpc.http.close(0);
});

test('a service that is not there is unavailable', async () => {
  const lost = createClient(contract, { baseUrl: 'http://127.0.0.1:1', tracer });
  await expect(lost.refuse({})).rejects.toMatchObject({ code: 'unavailable' });
});

test('a call that takes longer than its deadline ends on both sides', async () => {
  await expect(client.hang({}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'deadline' });
  await expect.poll(() => isHangAborted).toBe(true);
});

test('a refused token is replaced once', async () => {
  const tokens = ['rubbish.rubbish.rubbish', await server.issuer.sign()];
  const renewing = createClient(contract, {
    baseUrl,
    tracer,
    token: async () => tokens[0] ?? '',
    forgetToken: () => void tokens.shift(),
  });
  const input = { params: { name: 'a' }, query: {}, body: { n: 1 } };
  expect(await renewing.add(input)).toEqual({ name: 'a', n: 1 });
});

test('parameters are encoded, queries sent, and the answer is typed', async () => {
  const { name, n } = await client.add({
    params: { name: 'a/b ?ü' },
    query: { times: 3 },
    body: { n: 2 },
  });
  expect({ name, n }).toEqual({ name: 'a/b ?ü', n: 6 });
});

test('a stream gives its events in order and ends', async () => {
  const seen: number[] = [];
  for await (const { n } of client.streams.watch({ params: { failAt: 9 } })) seen.push(n);
  expect(seen).toEqual([0, 1, 2]);
});

test('a stream that fails half-way throws after the events before', async () => {
  const seen: number[] = [];
  const read = async () => {
    for await (const { n } of client.streams.watch({ params: { failAt: 2 } })) seen.push(n);
  };
  await expect(read()).rejects.toMatchObject({ code: 'upstream', reason: 'source_broke' });
  expect(seen).toEqual([0, 1]);
});

test("the server's span is a child of the client's, which is a child of the caller's", async () => {
  const parent = tracer.start('caller');
  await client.add({ params: { name: 'x' }, query: {}, body: { n: 1 } }, { parent });
  const { traceId, spanId } = parent.spanContext();
  const own = spans.find((span) => span.parentSpanId === spanId);
  const remote = server.spans.find((span) => span.parentSpanId === own?.spanId);
  expect([own?.traceId, remote?.traceId]).toEqual([traceId, traceId]);
});

test('calls that do not fit the contract do not compile', () => {
  // @ts-expect-error the body is required
  const withoutBody = () => client.add({ params: { name: 'a' }, query: {} });
  // @ts-expect-error there is no such route
  const unknown = () => client.nothing({});
  // @ts-expect-error this route has no stream
  const noStream = () => client.streams.add;
  expect([withoutBody, unknown, noStream]).toHaveLength(3);
});

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainEnvelope } from '../../kit/envelope.ts';
import type { Contract } from '../../kit/contract.ts';
import { createTestServer } from '../../kit/testing.ts';
import type { JaegerTrace } from '../interop/jaeger-json.ts';
import { fixture, fixturesIn, MemoryTraces } from '../interop/testing.ts';
import { interopRoutes } from '../schemas/interop.ts';
import { interopHandlers } from './interop.ts';

const contract = {
  name: 'tracer',
  title: 'Tracer',
  version: '1.0.0',
  description: 'The formats of others.',
  error: plainEnvelope.schema,
  routes: interopRoutes,
} as const satisfies Contract;

const start = 1_485_449_191_639_875;
const traces = new MemoryTraces(() => start / 1000 + 3_600_000);
let server: Awaited<ReturnType<typeof createTestServer>>;
let authorization: string;
beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, interopHandlers(traces));
  await server.http.app.ready();
  authorization = `Bearer ${await server.issuer.sign({ permissions: ['tracer:read', 'tracer:write'] })}`;
});
afterAll(() => server.http.close(0));

interface Sent {
  readonly type?: string;
  readonly permissions?: readonly string[];
}

async function post(url: string, payload: string | Buffer, sent: Sent = {}) {
  const { type = 'application/json', permissions } = sent;
  const token = permissions && `Bearer ${await server.issuer.sign({ permissions })}`;
  const headers = { 'content-type': type, authorization: token ?? authorization };
  return server.http.app.inject({ method: 'POST', url, payload, headers });
}

const get = (url: string) =>
  server.http.app.inject({ method: 'GET', url, headers: { authorization } });

const importUrl = '/api/v1/traces/import';

test('only who may write imports, only who may read reads', async () => {
  const may = { permissions: ['tracer:read'] };
  expect((await post(importUrl, '[]', may)).statusCode).toBe(403);
  expect((await post('/api/v2/spans', '[]', may)).statusCode).toBe(403);
  for (const url of ['/api/services', '/api/traces', '/api/traces/1', '/api/dependencies']) {
    expect((await server.http.app.inject({ method: 'GET', url })).statusCode).toBe(401);
  }
});

test.each([
  ['', 'the document is no JSON'],
  ['{}', 'the document must be a list of Zipkin v2 spans'],
  ['{"data":[{"spans":[{}]}]}', 'data[0].spans[0].startTime must be a whole number'],
  [Buffer.from([0x1f, 0x8b, 0, 0]), 'not coded as its Content-Encoding says'],
])('%j cannot be imported', async (document, message) => {
  const answer = await post(importUrl, document);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.message).toContain(message);
});

test('a document that is too large when inflated, or is no JSON, is refused as such', async () => {
  const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024, 32));
  expect((await post(importUrl, bomb)).statusCode).toBe(413);
  expect((await post('/api/v2/spans', 'x', { type: 'application/x-protobuf' })).statusCode).toBe(
    415,
  );
});

test('nothing of a document is stored when one span of it is malformed', async () => {
  const before = traces.bodies.length;
  const [span] = JSON.parse(fixture('zipkin/skew.json'));
  expect((await post(importUrl, JSON.stringify([span, {}]))).statusCode).toBe(400);
  expect(traces.bodies).toHaveLength(before);
});

const imported = ['zipkin', 'crisp', 'jaeger-ui', 'jaeger-ui/statistics', 'jaeger'].flatMap(
  fixturesIn,
);

test.each(imported)('%s is imported whole', async (path) => {
  const answer = await post(importUrl, fixture(path));
  expect(answer.json()).toMatchObject({ traces: 1, rejected: 0 });
  expect(answer.json().spans).toBeGreaterThan(0);
});

test('a gzipped file is imported, and what was rejected is said', async () => {
  const [span] = JSON.parse(fixture('zipkin/skew.json'));
  const spans = [span, { ...span, id: '1', timestamp: undefined }];
  const answer = await post(importUrl, gzipSync(JSON.stringify(spans)), {
    type: 'application/gzip',
  });
  expect(answer.json()).toMatchObject({ format: 'zipkin', traces: 1, spans: 1, rejected: 1 });
  expect(answer.json().reason).toMatch(/\w/);
});

/** Many copies of a trace, too large to be read at once. */
function manyTraces(count: number): Record<string, unknown>[] {
  const spans = JSON.parse(fixture('zipkin/yelp.json')) as Record<string, unknown>[];
  return Array.from({ length: count }, (_, index) => {
    const traceId = (index + 1).toString(16).padStart(16, 'e');
    return spans.map((span) => ({ ...span, traceId }));
  }).flat();
}

test('large documents are read one after another, and refused by the place as small ones are', async () => {
  const spans = manyTraces(40);
  const broken = [...spans, { ...spans[0], kind: 'NONE' }];
  const answers = await Promise.all(
    [spans, broken, spans].map((document) => post(importUrl, JSON.stringify(document))),
  );
  const [first, refused, second] = answers.map((answer) => answer.json());
  expect(first).toEqual({ format: 'zipkin', traces: 40, spans: 640, rejected: 0 });
  expect(second).toEqual(first);
  expect(refused.error).toMatchObject({
    message: '[640].kind must be CLIENT, SERVER, PRODUCER or CONSUMER',
    details: { place: '[640].kind' },
  });
});

test('a Zipkin client gets 202 without a body', async () => {
  const answer = await post('/api/v2/spans', fixture('zipkin/yelp.json'));
  expect(answer.statusCode).toBe(202);
  expect(answer.body).toBe('');
});

const opname = `${'0'.repeat(31)}6`;

test('a trace leaves as OTLP/JSON and as a file of Jaeger, and comes back as the same', async () => {
  const url = `/api/v1/traces/${opname}/export`;
  expect((await get(`${url}?format=xml`)).statusCode).toBe(400);
  expect((await get('/api/v1/traces/abc/export')).statusCode).toBe(404);
  const otlp = (await get(url)).json();
  expect(otlp.resourceSpans[0].scopeSpans[0].spans[0]).toMatchObject({ traceId: opname });
  const jaeger = (await get(`${url}?format=jaeger`)).body;
  expect(JSON.parse(jaeger).data[0].spans[0].operationName).toBe('query06-operation');
  for (const file of [JSON.stringify(otlp), jaeger]) {
    expect((await post(importUrl, file)).json()).toMatchObject({ spans: 1, rejected: 0 });
  }
  expect((await get(`${url}?format=jaeger`)).body).toBe(jaeger);
});

async function found(query: string): Promise<string[]> {
  const answer = await get(`/api/traces?${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return (answer.json().data as JaegerTrace[]).map(({ traceID }) => traceID.replace(/^0+/, ''));
}

test('refusals are worded as Jaeger words them', async () => {
  const answer = await get('/api/traces?limit=none');
  expect(answer.statusCode).toBe(400);
  expect(answer.json().errors).toEqual([
    { code: 400, msg: 'limit must be a whole number above 0' },
  ]);
  const missing = await get('/api/traces/abcdef');
  expect(missing.statusCode).toBe(404);
  expect(missing.json().errors[0].code).toBe(404);
  expect((await get('/api/operations')).statusCode).toBe(400);
});

test('traces are found by what Jaeger UI and Grafana send', async () => {
  const range = `start=${start - 1}&end=${start + 3_600_000_000}`;
  expect(
    await found(
      `service=query06-service&operation=&maxDuration&minDuration=&limit=20&lookback=1h&${range}`,
    ),
  ).toEqual(['6']);
  expect(
    await found(`service=query08-service&minDuration=4.5us&maxDuration=5500ns&${range}`),
  ).toEqual(['8']);
  expect(await found(`service=query08-service&maxDuration=4us&${range}`)).toEqual([]);
  const tags = encodeURIComponent('{"sameplacetag2":"123","sameplacetag4":"true"}');
  expect(await found(`service=query01-service&tags=${tags}&${range}`)).toEqual(['1']);
  expect(await found(`tag=sameplacetag2:124&${range}`)).toEqual([]);
  expect(await found('lookback=2h&service=query06-service')).toEqual(['6']);
});

test('traces are found by several ids, and one that is missing is an error beside the others', async () => {
  const answer = await get(`/api/traces?traceID=6&traceID=abcdef&traceID=${opname}`);
  expect(answer.json().data).toHaveLength(2);
  expect(answer.json().errors).toMatchObject([{ code: 404, traceID: 'abcdef'.padStart(32, '0') }]);
});

test('a trace is read by a short id, in the envelope', async () => {
  expect((await get('/api/traces/6')).json()).toMatchObject({
    data: [{ traceID: opname, processes: { p1: { serviceName: 'query06-service' } } }],
    total: 1,
    limit: 0,
    offset: 0,
    errors: null,
  });
});

test('services, their operations and who calls whom are listed', async () => {
  const services = (await get('/api/services')).json();
  expect(services.data).toEqual(expect.arrayContaining(['query06-service', 'servicea']));
  expect(services.total).toBe(services.data.length);
  const operations = (await get('/api/services/servicea/operations')).json().data as string[];
  expect(operations).toEqual(operations.toSorted());
  expect(operations).toContain('get');
  const servers = (await get('/api/operations?service=servicea&spanKind=server')).json().data;
  expect(servers).toEqual([{ name: 'get', spanKind: 'server' }]);
  const all = (await get(`/api/dependencies?endTs=1470150005000&lookback=2000`)).json().data;
  expect(all).toContainEqual({ parent: 'servicea', child: 'serviceb', callCount: 1 });
  const none = await get('/api/dependencies?endTs=1470150005000&lookback=2000&service=other');
  expect(none.json().data).toEqual([]);
  expect((await get('/api/services/none/operations')).json()).toMatchObject({ data: [], total: 0 });
});

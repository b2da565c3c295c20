import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { healthRoute, type Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { JsonLines } from '../answers/json-lines.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';

const Count = Type.Object({ n: Type.Integer() });

const contract = {
  name: 'counts',
  title: 'Counts',
  version: '1.0.0',
  description: 'Counts for tests.',
  error: plainEnvelope.schema,
  routes: {
    count: {
      method: 'GET',
      url: '/count/:failAt',
      summary: 'Count in lines',
      auth: 'none',
      schema: {
        params: Type.Object({ failAt: Type.Integer() }),
        response: { 200: Count },
        lines: Count,
      },
    },
    flood: {
      method: 'GET',
      url: '/flood',
      summary: 'Count without an end',
      auth: 'none',
      schema: { response: { 200: Count }, lines: Count },
    },
    health: healthRoute('/health', {}),
  },
} as const satisfies Contract;

const flood = { sent: 0, isEnded: false };

async function* countTo(failAt: number) {
  for (let n = 0; n < 3; n += 1) {
    if (n === failAt) throw new Fault('upstream', 'the source broke', { reason: 'broken' });
    yield { n, text: 'line\nbreak' };
  }
}

async function* endless() {
  try {
    for (;;) {
      flood.sent += 1;
      yield { n: flood.sent, text: 'x'.repeat(16_384) };
    }
  } finally {
    flood.isEnded = true;
  }
}

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, {
    count: ({ params }) => new JsonLines(countTo(params.failAt)),
    flood: () => new JsonLines(endless()),
    health: () => ({ status: 'healthy', version: '1.0.0', uptime: 1 }),
  });
  url = await listenAnywhere(server.http);
});

afterAll(() => server.http.close(100));

async function readLines(failAt: number) {
  const answer = await fetch(`${url}/count/${failAt}`);
  const text = await answer.text();
  expect(text.endsWith('\n')).toBe(true);
  const lines = text.trimEnd().split('\n');
  return { answer, lines: lines.map((line) => JSON.parse(line) as unknown) };
}

test('a source that fails at once gives an ordinary refusal', async () => {
  const answer = await fetch(`${url}/count/0`);
  expect(answer.status).toBe(502);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await answer.json()).toMatchObject({ error: { code: 'BROKEN' } });
});

test('a source that fails later ends with a line that holds the refusal', async () => {
  const { answer, lines } = await readLines(2);
  expect(answer.status).toBe(200);
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toMatchObject({
    error: {
      code: 'BROKEN',
      message: 'the source broke',
      requestId: answer.headers.get('x-request-id'),
    },
  });
});

test('each value is one line, whatever line breaks it holds', async () => {
  const { answer, lines } = await readLines(9);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  expect(answer.headers.get('cache-control')).toContain('no-cache');
  expect(lines).toEqual([0, 1, 2].map((n) => ({ n, text: 'line\nbreak' })));
});

test('a slow reader slows the source down, and one who leaves ends it', async () => {
  const leaving = new AbortController();
  const answer = await fetch(`${url}/flood`, { signal: leaving.signal });
  const reader = answer.body!.getReader();
  await reader.read();
  let before = -1;
  await expect
    .poll(() => {
      const isStill = flood.sent === before;
      before = flood.sent;
      return isStill;
    })
    .toBe(true);
  expect(flood.isEnded).toBe(false);
  leaving.abort();
  await expect.poll(() => flood.isEnded).toBe(true);
});

test('the OpenAPI document names the lines', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get: { responses: { 200: { content: object } } } }>;
  };
  const { content } = document.paths['/flood']!.get.responses[200];
  expect(Object.keys(content)).toEqual(['application/json', 'application/x-ndjson']);
});

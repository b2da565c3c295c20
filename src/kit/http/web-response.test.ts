import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';

const contract = {
  name: 'streams',
  title: 'Streams',
  version: '1.0.0',
  description: 'Web responses for tests.',
  error: plainEnvelope.schema,
  routes: {
    read: {
      method: 'GET',
      url: '/:kind',
      summary: 'Read',
      auth: 'none',
      schema: {
        params: Type.Object({ kind: Type.String() }),
        response: { 200: Type.Object({ text: Type.String() }) },
      },
    },
  },
} as const satisfies Contract;

const chunk = new Uint8Array(64 * 1024);
let pulled = 0;
let isCancelled = Promise.resolve();

/** Never ends; counts what is read of it. */
function endless(): ReadableStream<Uint8Array> {
  let notify = () => {};
  isCancelled = new Promise((resolve) => (notify = resolve));
  return new ReadableStream({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(chunk);
    },
    cancel: () => notify(),
  });
}

function broken(): ReadableStream<Uint8Array> {
  let isFirst = true;
  return new ReadableStream({
    pull: (controller) => {
      if (isFirst) controller.enqueue(chunk);
      else controller.error(new Error('cut'));
      isFirst = false;
    },
  });
}

const answers: Readonly<Record<string, () => Response>> = {
  teapot: () => new Response('short', { status: 418, headers: { 'x-kind': 'tea' } }),
  json: () => Response.json({ text: 'as it is', more: 1 }),
  nothing: () => new Response(null, { status: 202 }),
  endless: () => new Response(endless()),
  broken: () => new Response(broken()),
};

let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const { http } = await createTestServer(contract);
  http.serve(contract, {
    read: ({ params }) => {
      const answer = answers[params.kind];
      if (!answer) throw new Fault('not_found', 'no such answer');
      return answer();
    },
  });
  url = await listenAnywhere(http);
  close = () => http.close(0);
});
afterAll(() => close());

test('a body that breaks half-way breaks the connection, so that nobody takes it for whole', async () => {
  const response = await fetch(`${url}/broken`);
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
});

test('a reader who has gone cancels the body', async () => {
  const gone = new AbortController();
  const response = await fetch(`${url}/endless`, { signal: gone.signal });
  await response.body?.getReader().read();
  gone.abort();
  await isCancelled;
});

test('a body is read no faster than its reader takes it', async () => {
  pulled = 0;
  const gone = new AbortController();
  const response = await fetch(`${url}/endless`, { signal: gone.signal });
  const reader = response.body?.getReader();
  let count = -1;
  while (count !== pulled) {
    count = pulled;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await reader?.read();
  gone.abort();
  await isCancelled;
  expect(count).toBeGreaterThan(0);
});

test('status, headers and body are those of the response, beside the headers of every answer', async () => {
  const response = await fetch(`${url}/teapot`);
  expect(response.status).toBe(418);
  expect(response.headers.get('x-kind')).toBe('tea');
  expect(response.headers.get('x-request-id')).toMatch(/./);
  expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  expect(await response.text()).toBe('short');
});

test('a body of JSON is sent as it is', async () => {
  const response = await fetch(`${url}/json`);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ text: 'as it is', more: 1 });
});

test('a response may have no body', async () => {
  const response = await fetch(`${url}/nothing`);
  expect(response.status).toBe(202);
  expect(await response.text()).toBe('');
});

test('HEAD answers its head, and cancels the body', async () => {
  const response = await fetch(`${url}/teapot`, { method: 'HEAD' });
  expect([response.status, response.headers.get('x-kind')]).toEqual([418, 'tea']);
  expect((await fetch(`${url}/endless`, { method: 'HEAD' })).status).toBe(200);
  await isCancelled;
  expect((await fetch(`${url}/nothing`, { method: 'HEAD' })).status).toBe(202);
});

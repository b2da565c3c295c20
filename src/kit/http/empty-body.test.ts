import { afterAll, beforeAll, expect, test } from 'vitest';
import { Type } from 'typebox';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer } from '../testing.ts';

const contract = {
  name: 'notes',
  title: 'Notes',
  version: '1.0.0',
  description: 'Notes.',
  error: plainEnvelope.schema,
  routes: {
    remove: {
      method: 'DELETE',
      url: '/note',
      summary: 'Remove',
      auth: 'none',
      schema: { response: { 200: Type.Unknown() } },
    },
    write: {
      method: 'PUT',
      url: '/note',
      summary: 'Write',
      auth: 'none',
      schema: { body: Type.Object({ text: Type.String() }), response: { 200: Type.Unknown() } },
    },
    ring: {
      method: 'POST',
      url: '/bell',
      summary: 'Ring',
      auth: 'none',
      schema: {
        body: Type.Object({ times: Type.Optional(Type.Integer()) }),
        response: { 200: Type.Unknown() },
      },
    },
  },
} as const satisfies Contract;

let server: Awaited<ReturnType<typeof createTestServer>>;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, { remove: () => ({}), write: () => ({}), ring: ({ body }) => body });
});

afterAll(() => server.http.close(0));

const send = async (method: 'DELETE' | 'PUT', payload: string) => {
  const headers = { 'content-type': 'application/json' };
  return (await server.http.app.inject({ method, url: '/note', headers, payload })).statusCode;
};

test('a route that takes no body does not mind a type without one', async () => {
  expect(await send('DELETE', '')).toBe(200);
  expect(await send('DELETE', '{"a":')).toBe(400);
});

test('a route that takes a body refuses an empty one', async () => {
  expect(await send('PUT', '')).toBe(400);
  expect(await send('PUT', '{"text":"a"}')).toBe(200);
});

test('a route whose fields are all optional does without a body', async () => {
  const ring = { method: 'POST', url: '/bell' } as const;
  const headers = { 'content-type': 'application/json' };
  for (const request of [ring, { ...ring, headers, payload: '' }]) {
    expect((await server.http.app.inject(request)).json()).toEqual({});
  }
  const wrong = { ...ring, headers, payload: '{"times":"two"}' };
  expect((await server.http.app.inject(wrong)).statusCode).toBe(400);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Type } from 'typebox';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { RateLimiter } from '../rate-limit.ts';
import { createTestServer } from '../testing.ts';

const contract = {
  name: 'notes',
  title: 'Notes',
  version: '1.0.0',
  description: 'Notes.',
  error: plainEnvelope.schema,
  routes: {
    read: {
      method: 'GET',
      url: '/note',
      summary: 'Read',
      schema: { response: { 200: Type.Unknown() } },
    },
    inside: {
      method: 'GET',
      url: '/inside',
      summary: 'Read here',
      auth: 'loopback',
      rateLimit: 'none',
      schema: { response: { 200: Type.Unknown() } },
    },
  },
} as const satisfies Contract;

let server: Awaited<ReturnType<typeof createTestServer>>;

beforeAll(async () => {
  const limiter = new RateLimiter({ perMinute: 2, burst: 2 });
  server = await createTestServer(contract, { limiter });
  server.http.serve(contract, { read: () => ({}), inside: () => ({}) });
});

afterAll(() => server.http.close(0));

const read = async (token: string) => {
  const headers = { authorization: `Bearer ${token}` };
  return (await server.http.app.inject({ url: '/note', headers })).statusCode;
};

test('a user has one limit, however often they log in', async () => {
  const first = await server.issuer.sign({ sub: 'usr_1', sid: 'ses_1' });
  const second = await server.issuer.sign({ sub: 'usr_1', sid: 'ses_2' });
  expect(await read(first)).toBe(200);
  expect(await read(second)).toBe(200);
  expect(await read(first)).toBe(429);
  expect(await read(second)).toBe(429);
});

test('each API key of a service has a limit of its own', async () => {
  const claims = { sub: 'svc_1', user: undefined };
  const first = await server.issuer.sign({ ...claims, sid: 'key_1' });
  const second = await server.issuer.sign({ ...claims, sid: 'key_2' });
  expect(await read(first)).toBe(200);
  expect(await read(first)).toBe(200);
  expect(await read(first)).toBe(429);
  expect(await read(second)).toBe(200);
});

test('what is public on this machine needs a token from any other', async () => {
  const from = async (remoteAddress: string) =>
    (await server.http.app.inject({ url: '/inside', remoteAddress })).statusCode;
  expect(await from('127.0.0.1')).toBe(200);
  expect(await from('::1')).toBe(200);
  expect(await from('::ffff:127.0.0.1')).toBe(200);
  expect(await from('192.0.2.1')).toBe(401);
});

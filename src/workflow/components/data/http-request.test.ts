import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress } from '../../../kit/egress/egress.ts';
import { createResolver, startTarget, type Target } from '../../../kit/egress/testing.ts';
import { failureOf } from '../../engine/run/node-failure.ts';
import { createContext } from '../testing.ts';
import { createHttpRequest } from './http-request.ts';

let target: Target;
let egress: Egress;

beforeAll(async () => {
  target = await startTarget();
  egress = createEgress({ allow: [], isLoopbackAllowed: true });
});
beforeEach(() => void target.arrivals.splice(0));
afterAll(async () => {
  await egress[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

interface Answered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

async function request(data: Record<string, unknown>, context = createContext()) {
  const outcome = await createHttpRequest(egress).run(data, context);
  return outcome.output as Answered;
}

describe('An HttpRequest', () => {
  test('sends what it is told, with the key of its node', async () => {
    await request({
      method: 'POST',
      url: `${target.origin}/echo?a=1`,
      query: { b: [2, 'drei'], c: true },
      headers: { 'X-Team': 'blue', 'x-count': 3 },
      body: { title: 'grüße' },
    });
    expect(target.arrivals).toMatchObject([
      {
        method: 'POST',
        path: '/echo?a=1&b=2&b=drei&c=true',
        headers: {
          'x-team': 'blue',
          'x-count': '3',
          'content-type': 'application/json',
          'idempotency-key': 'exe_1:node:',
        },
        body: '{"title":"grüße"}',
      },
    ]);
  });

  test('leaves a key and a type alone that the flow sets, and a text as it is', async () => {
    const headers = { 'Idempotency-Key': 'own', 'Content-Type': 'text/csv' };
    await request({ method: 'PUT', url: `${target.origin}/echo`, headers, body: 'a;b' });
    expect(target.arrivals).toMatchObject([
      { headers: { 'idempotency-key': 'own', 'content-type': 'text/csv' }, body: 'a;b' },
    ]);
  });

  test('sends no key and no body where nothing is changed', async () => {
    await request({ url: `${target.origin}/echo`, body: 'ignored' });
    expect(target.arrivals).toMatchObject([{ method: 'GET', body: '' }]);
    expect(target.arrivals[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  test('reads the body as it is told', async () => {
    const url = `${target.origin}/packed/gzip`;
    expect(await request({ url })).toMatchObject({ status: 200, body: '{"coding":"gzip"}' });
    expect(await request({ url, responseType: 'json' })).toMatchObject({
      body: { coding: 'gzip' },
    });
    const text = `${target.origin}/text`;
    const { body } = await request({ url: text, responseType: 'base64' });
    expect(Buffer.from(String(body), 'base64').toString()).toBe('grüße');
    await expect(request({ url: text, responseType: 'json' })).rejects.toMatchObject({
      code: 'upstream',
    });
  });

  test('fails with the status when it is no success, unless that is an answer', async () => {
    const url = `${target.origin}/status/404`;
    await expect(request({ url })).rejects.toMatchObject({
      code: 'not_found',
      reason: 'http_404',
      detail: { status: 404 },
    });
    expect(await request({ url, acceptStatus: [404] })).toMatchObject({ status: 404, body: null });
  });

  test.each([
    [400, false],
    [401, false],
    [403, false],
    [408, true],
    [409, false],
    [413, false],
    [422, false],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])('that meets the status %i may be repeated: %s', async (status, isRetryable) => {
    const failure = request({ url: `${target.origin}/status/${status}` });
    const thrown: unknown = await failure.catch((error: unknown) => error);
    expect(failureOf(thrown)).toMatchObject({ isRetryable, error: { code: `HTTP_${status}` } });
  });

  test.each([
    ['7', 7_000],
    [new Date(Date.now() + 60_000).toUTCString(), expect.closeTo(60_000, -4) as number],
    ['soon', undefined],
    ['-1', undefined],
  ])('that is asked by Retry-After: %s to wait says so', async (header, askedMs) => {
    const server = createServer((_request, response) => {
      response.writeHead(503, { 'retry-after': header }).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const failure = request({ url: `http://127.0.0.1:${port}/` });
    const thrown: unknown = await failure.catch((error: unknown) => error);
    server.close();
    expect(failureOf(thrown).askedMs).toEqual(askedMs);
  });

  test('follows redirects unless it is told not to', async () => {
    const url = `${target.origin}/chain/2`;
    expect(await request({ url })).toMatchObject({ body: 'arrived' });
    const failure = request({ url, followRedirects: false });
    await expect(failure).rejects.toMatchObject({
      code: 'forbidden',
      reason: 'redirect_refused',
    });
  });

  test('gives a redirect that it does not follow, where its status is accepted', async () => {
    const settings = { url: `${target.origin}/chain/2`, acceptStatus: [302] };
    const { status, headers } = await request({ ...settings, followRedirects: false });
    expect({ status, location: headers['location'] }).toEqual({
      status: 302,
      location: '/chain/1',
    });
    expect(await request(settings)).toMatchObject({ status: 200, body: 'arrived' });
  });

  test.each([
    ['more than it may take', 'large', { code: 'too_large', reason: 'response_too_large' }],
    ['what inflates beyond that', 'bomb/gzip', { code: 'too_large', reason: 'response_too_large' }],
    ['a connection that breaks', 'destroy', { code: 'upstream' }],
  ])('fails at %s', async (_what, path, fault) => {
    await expect(request({ url: `${target.origin}/${path}` })).rejects.toMatchObject(fault);
  });

  test('gives up when its time is over, and when it is cancelled', async () => {
    const url = `${target.origin}/never`;
    const late = request({ url }, createContext({ timeoutMs: 50 }));
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
    const cancelled = request({ url }, createContext({ signal: AbortSignal.abort() }));
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  });

  test.each([
    ['is no address', { url: '/relative' }],
    ['is no web address', { url: 'file:///etc/passwd' }],
    ['holds a password', { url: 'http://a:b@example.com/' }],
    ['names another host in a header', { url: 'http://example.com/', headers: { Host: 'x' } }],
    ['breaks a header', { url: 'http://example.com/', headers: { x: 'a\r\nb: c' } }],
  ])('refuses what %s', async (_what, data) => {
    await expect(request(data)).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('An HttpRequest reaches no internal address:', () => {
  let guarded: Egress;
  beforeAll(() => {
    const { lookup } = createResolver();
    guarded = createEgress({ allow: [], isLoopbackAllowed: false }, { lookup });
  });
  afterAll(() => guarded[Symbol.asyncDispose]());

  test.each([
    ['http://127.0.0.1/'],
    ['http://localhost/'],
    ['http://[::1]/'],
    ['http://0x7f000001/'],
    ['http://2130706433/'],
    ['http://10.0.0.1/'],
    ['http://169.254.169.254/latest/meta-data/'],
    ['http://[::ffff:10.0.0.1]/'],
    ['http://meta.test/'],
    ['http://mixed.test/'],
    ['http://nat64.test/'],
  ])('%s', async (url) => {
    const failure = createHttpRequest(guarded).run({ url }, createContext());
    await expect(failure).rejects.toMatchObject({ code: 'forbidden', reason: 'egress_blocked' });
  });
});

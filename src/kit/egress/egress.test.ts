import { once } from 'node:events';
import { pino } from 'pino';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createResolver, startTarget, type Target } from './testing.ts';
import { createEgress, type Egress } from './egress.ts';

const blocked = { code: 'forbidden', reason: 'egress_blocked' };
const unreachable = { code: 'upstream', message: 'the address cannot be reached' };
const resolver = createResolver();
let target: Target;
let other: Target;
/** Loopback is allowed, so that the targets can be called. */
let egress: Egress;
let strict: Egress;

beforeAll(async () => {
  [target, other] = [await startTarget(), await startTarget()];
  egress = createEgress({ allow: [], isLoopbackAllowed: true }, { lookup: resolver.lookup });
  strict = createEgress({ allow: [], isLoopbackAllowed: false }, { lookup: resolver.lookup });
});

afterAll(async () => {
  for (const one of [egress, strict, target, other]) await one[Symbol.asyncDispose]();
});

beforeEach(() => {
  target.arrivals.length = 0;
  resolver.asked.length = 0;
});

describe('an address that is registered', () => {
  test.each([
    'nonsense',
    '/path',
    '',
    'ftp://example.com/',
    'file:///etc/passwd',
    'ws://example.com/',
    'javascript:alert(1)',
    'http://user@example.com/',
    'http://user:secret@example.com/',
    'http://:secret@example.com/',
  ])('%s is refused as invalid, and a password is not repeated', (url) => {
    expect(() => egress.checkUrl(url)).toThrow(expect.objectContaining({ code: 'invalid' }));
    expect(() => egress.checkUrl(url)).not.toThrow(/secret/);
  });

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://①②⑦.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://0.0.0.0/',
    'http://0/',
    'http://[::]/',
    'http://10.0.0.1/',
    'http://100.64.0.1/',
    'http://224.0.0.1/',
    'http://[fd00::1]/',
    'https://169.254.169.254/latest/meta-data/',
  ])('%s is refused as forbidden', (url) => {
    expect(() => strict.checkUrl(url)).toThrow(expect.objectContaining(blocked));
  });

  test('a public address and any name pass, and sockets do where they are asked for', () => {
    expect(strict.checkUrl('https://1.1.1.1:8443/hook?a=b').port).toBe('8443');
    expect(strict.checkUrl('http://internal.test/').hostname).toBe('internal.test');
    expect(strict.checkUrl('wss://example.com/', { schemes: ['ws', 'wss'] }).protocol).toBe('wss:');
    expect(egress.checkUrl('http://localhost:8080/').port).toBe('8080');
  });
});

describe('a call', () => {
  test.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:7f00:1]', 'ok.test'])(
    'to %s on loopback is blocked by a strict guard, and never arrives',
    async (host) => {
      await expect(strict.fetch(`http://${host}:${target.port}/`)).rejects.toMatchObject(blocked);
      expect(target.arrivals).toEqual([]);
    },
  );

  test.each(['meta.test', 'mixed.test', 'mapped.test', 'nat64.test', 'zero.test', 'odd.test'])(
    'to the name %s, which resolves to what may not be called, is blocked',
    async (name) => {
      await expect(egress.fetch(`http://${name}:${target.port}/`)).rejects.toMatchObject(blocked);
      expect(target.arrivals).toEqual([]);
    },
  );

  test('the refusal names the host, not the address behind it', async () => {
    const error = await egress.fetch('http://meta.test/').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: 'calls to meta.test are not allowed' });
    expect(JSON.stringify(error)).not.toContain('169.254');
  });

  test('a name is resolved once, so that it cannot change between check and connection', async () => {
    const answer = await egress.fetch(`http://rebind.test:${target.port}/echo`);
    expect(answer.status).toBe(200);
    expect(resolver.asked).toEqual(['rebind.test']);
  });

  test('a closed port, a silent one and an unknown name are told alike', async () => {
    const closed = await startTarget();
    await closed[Symbol.asyncDispose]();
    const urls = [
      closed.origin,
      'http://silent.test/',
      'http://unknown.test/',
      'http://empty.test/',
    ];
    for (const url of urls) {
      await expect(egress.fetch(url, { timeoutMs: 300 })).rejects.toMatchObject(unreachable);
    }
    // TLS spoken to a plain port must not tell that the port is open either.
    const mixed = egress.fetch(`https://127.0.0.1:${target.port}/`);
    await expect(mixed).rejects.toMatchObject(unreachable);
  });

  test('an answer that does not begin, or does not end, runs into the deadline', async () => {
    for (const path of ['/never', '/endless']) {
      const call = egress.fetch(target.origin + path, { timeoutMs: 200 });
      await expect(call).rejects.toMatchObject({ code: 'deadline' });
    }
  });

  test('the caller can cancel before and during a call, and its own deadline stays one', async () => {
    const before = egress.fetch(target.origin, { signal: AbortSignal.abort() });
    await expect(before).rejects.toMatchObject({ code: 'cancelled' });
    expect(target.arrivals).toEqual([]);
    const stop = new AbortController();
    const during = egress.fetch(`${target.origin}/never`, { signal: stop.signal });
    await vi.waitFor(() => expect(target.arrivals).toHaveLength(1), 10_000);
    stop.abort(new Error('the user left'));
    await expect(during).rejects.toMatchObject({ code: 'cancelled' });
    const late = egress.fetch(`${target.origin}/never`, { signal: AbortSignal.timeout(100) });
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
  });

  test('an answer above the bound is cut off, announced or not, packed or not', async () => {
    const tooLarge = { code: 'upstream', reason: 'response_too_large' };
    for (const path of ['/large', '/unannounced', '/bomb/gzip', '/bomb/br']) {
      const call = egress.fetch(target.origin + path, { responseBytesMax: 100_000 });
      await expect(call).rejects.toMatchObject(tooLarge);
    }
    await expect(egress.fetch(`${target.origin}/unannounced`)).rejects.toMatchObject(tooLarge);
    const enough = await egress.fetch(`${target.origin}/large`, {
      responseBytesMax: 2 * 1024 * 1024,
    });
    expect(enough.body).toHaveLength(2 * 1024 * 1024);
  });

  test('packed answers arrive unpacked, and broken ones are the upstream’s fault', async () => {
    for (const coding of ['gzip', 'deflate', 'br']) {
      const answer = await egress.fetch(`${target.origin}/packed/${coding}`);
      expect(answer.json()).toEqual({ coding });
      expect(answer.headers.get('content-encoding')).toBeNull();
    }
    const broken = egress.fetch(`${target.origin}/broken`);
    await expect(broken).rejects.toMatchObject({ code: 'upstream' });
    const head = await egress.fetch(`${target.origin}/large`, {
      method: 'HEAD',
      responseBytesMax: 10,
    });
    expect(head.body).toHaveLength(0);
  });

  test.each([
    ['text/plain; charset=iso-8859-1', 'e9', 'é'],
    ['text/html; Charset="Shift_JIS"', '93fa967b', '日本'],
    ['text/plain; charset=utf-16le', '41004200', 'AB'],
    ['text/plain; charset=unknown', 'c3a9', 'é'],
    ['text/plain', 'efbbbfc3a9', 'é'],
  ])('an answer of type %s is read in its charset', async (type, hex, text) => {
    const query = new URLSearchParams({ type, hex });
    const answer = await egress.fetch(`${target.origin}/typed?${query.toString()}`);
    expect(answer.text()).toBe(text);
  });

  test('JSON is read behind a byte order mark', async () => {
    const hex = Buffer.from('\uFEFF{"a":1}').toString('hex');
    const answer = await egress.fetch(`${target.origin}/typed?type=application/json&hex=${hex}`);
    expect(answer.json()).toEqual({ a: 1 });
  });

  test('what is no HTTP and a connection that breaks are the upstream’s fault', async () => {
    const gone = egress.fetch(`${target.origin}/destroy`);
    await expect(gone).rejects.toMatchObject({ code: 'upstream' });
    const answer = await egress.fetch(`${target.origin}/text`);
    expect(answer.text()).toBe('grüße');
    expect(() => answer.json()).toThrow(expect.objectContaining({ code: 'upstream' }));
  });

  test('headers that frame the message or hold what HTTP cannot carry are refused', async () => {
    const wrong = [
      { Host: 'a' },
      { 'Content-Length': '1' },
      { 'x-a': 'b\r\nx: y' },
      { 'a b': 'c' },
    ];
    for (const headers of wrong) {
      await expect(egress.fetch(target.origin, { headers })).rejects.toMatchObject({
        code: 'invalid',
      });
    }
    await expect(egress.fetch(target.origin, { method: 'A B' })).rejects.toMatchObject({
      code: 'invalid',
    });
    expect(target.arrivals).toEqual([]);
  });

  test('method, headers and body arrive, and any status is an answer', async () => {
    const headers = { 'content-type': 'application/json', 'x-signature': 's' };
    const call = { method: 'post', headers, body: '{"a":1}' };
    const answer = await egress.fetch(`http://ok.test:${target.port}/status/418?q=1`, call);
    expect(answer.status).toBe(418);
    expect(target.arrivals).toMatchObject([
      { method: 'POST', path: '/status/418?q=1', headers, body: '{"a":1}' },
    ]);
    const bytes = await egress.fetch(`${target.origin}/echo`, {
      method: 'PUT',
      body: Buffer.from('bytes'),
    });
    expect(bytes.json()).toMatchObject({ method: 'PUT', body: 'bytes' });
  });
});

describe('a redirect', () => {
  test('to what may not be called is blocked', async () => {
    for (const to of ['http://169.254.169.254/', 'http://meta.test/', '//10.0.0.1/']) {
      await expect(egress.fetch(go(302, to))).rejects.toMatchObject(blocked);
    }
  });

  test('to another scheme, to credentials or to nonsense is the upstream’s fault', async () => {
    for (const to of ['file:///etc/passwd', 'http://u:p@127.0.0.1/', 'http://[', 'gopher://x/']) {
      await expect(egress.fetch(go(302, to))).rejects.toMatchObject({ code: 'upstream' });
    }
  });

  test('is followed three times and not once more', async () => {
    expect((await egress.fetch(`${target.origin}/chain/3`)).status).toBe(200);
    target.arrivals.length = 0;
    const message = 'the address redirects more than 3 times';
    for (const path of ['/chain/4', '/loop']) {
      await expect(egress.fetch(target.origin + path)).rejects.toMatchObject({
        code: 'upstream',
        message,
      });
    }
    expect(target.arrivals).toHaveLength(8);
  });

  test('is refused when the request follows none, and nothing is sent on', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const call = { method: 'POST', body: 'secret', isRedirectFollowed: false };
      await expect(egress.fetch(go(status, `${other.origin}/echo`), call)).rejects.toMatchObject({
        code: 'upstream',
        reason: 'redirect_refused',
      });
    }
    expect(other.arrivals).toEqual([]);
    const answer = await egress.fetch(`${target.origin}/status/304`, { isRedirectFollowed: false });
    expect(answer.status).toBe(304);
  });

  test('is an answer where the request takes its status for one, and nothing is sent on', async () => {
    const call = { isRedirectFollowed: false, answeredRedirects: [302] };
    const answer = await egress.fetch(go(302, `${other.origin}/echo`), call);
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe(`${other.origin}/echo`);
    expect(other.arrivals).toEqual([]);
    const refused = egress.fetch(go(307, `${other.origin}/echo`), call);
    await expect(refused).rejects.toMatchObject({ reason: 'redirect_refused' });
  });

  test('shares one deadline with the first call', async () => {
    const call = egress.fetch(go(307, '/never'), { timeoutMs: 200 });
    await expect(call).rejects.toMatchObject({ code: 'deadline' });
  });

  test('takes secrets along to its own origin only', async () => {
    const secrets = { authorization: 'Bearer s', cookie: 'a=s', 'x-api-key': 's', 'x-custom': 's' };
    const headers = { ...secrets, accept: 'text/plain' };
    await egress.fetch(go(307, '/echo'), { headers });
    expect(target.arrivals.at(-1)?.headers).toMatchObject(headers);
    await egress.fetch(go(307, `${other.origin}/echo`), { headers });
    const [elsewhere] = other.arrivals;
    expect(elsewhere?.headers).toMatchObject({ accept: 'text/plain' });
    for (const name of Object.keys(secrets)) expect(elsewhere?.headers).not.toHaveProperty(name);
  });

  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [302, 'PATCH', 'PATCH'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ])('by %d makes of a %s a %s', async (status, method, expected) => {
    const content =
      method === 'HEAD' ? {} : { body: 'x', headers: { 'content-type': 'text/plain' } };
    await egress.fetch(go(status, '/echo'), { method, ...content });
    const last = target.arrivals.at(-1);
    expect(last?.method).toBe(expected);
    const keepsBody = expected === method && method !== 'HEAD';
    expect(last?.body).toBe(keepsBody ? 'x' : '');
    expect(last?.headers['content-type']).toBe(keepsBody ? 'text/plain' : undefined);
  });

  test('without a place, and a 304, are answers', async () => {
    expect((await egress.fetch(`${target.origin}/status/302`)).status).toBe(302);
    expect((await egress.fetch(go(304, '/echo'))).status).toBe(304);
  });
});

describe('a client that dials by itself', () => {
  test('is stopped by the dispatcher at literals as well as names', async () => {
    for (const host of ['127.0.0.1', 'ok.test']) {
      const call = request(`http://${host}:${target.port}/`, { dispatcher: strict.dispatcher });
      await expect(call).rejects.toMatchObject(blocked);
    }
    const { statusCode } = await request(`${target.origin}/echo`, {
      dispatcher: egress.dispatcher,
    });
    expect(statusCode).toBe(200);
  });

  test('is stopped by the lookup at names, and the operator can read why', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    await using guard = createEgress(
      { allow: [], isLoopbackAllowed: false },
      { lookup: resolver.lookup, log },
    );
    const socket = new WebSocket(`ws://ok.test:${target.port}/`, { lookup: guard.lookup });
    const [error] = await once(socket, 'error').catch((thrown: unknown) => [thrown]);
    expect(error).toMatchObject(blocked);
    expect(lines.join('')).toContain('"host":"ok.test","address":"127.0.0.1"');
  });
});

/** The address of a target that redirects like this. */
function go(status: number, to: string): string {
  return `${target.origin}/redirect?${new URLSearchParams({ status: String(status), to }).toString()}`;
}

import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { readCredential } from './credential.ts';

const rules = { acceptsSessionCookie: true, acceptsQueryToken: false };

function request(
  headers: Record<string, string>,
  { method = 'GET', url = '/' }: { method?: string; url?: string } = {},
): IncomingMessage {
  const rawHeaders = Object.entries(headers).flat();
  // What the reader looks at, and nothing else.
  return { headers, rawHeaders, method, url } as unknown as IncomingMessage;
}

const cookie = 'theme=dark; session=the-token; lang=en';

describe('the session cookie', () => {
  test('is taken for a read, wherever the page came from', () => {
    const read = request({ cookie, host: 'chat.test', origin: 'http://evil.test' });
    expect(readCredential(read, rules)).toBe('the-token');
  });

  const foreign: [string, Record<string, string>][] = [
    ['another origin', { origin: 'http://evil.test' }],
    ['a sandboxed page', { origin: 'null' }],
    ['another port', { origin: 'http://chat.test:8080' }],
    ['no origin', {}],
  ];
  test.each(foreign)('is refused for a write from %s', (_name, headers) => {
    const write = request({ cookie, host: 'chat.test', ...headers }, { method: 'POST' });
    expect(() => readCredential(write, rules)).toThrow('from the same origin only');
  });

  test('is refused for an upgrade from another origin', () => {
    const upgrade = { cookie, host: 'chat.test', upgrade: 'websocket', origin: 'http://evil.test' };
    expect(() => readCredential(request(upgrade), rules)).toThrow('from the same origin only');
  });

  test('is taken for a write from its own origin', () => {
    const headers = { cookie, host: 'chat.test', origin: 'http://chat.test' };
    expect(readCredential(request(headers, { method: 'POST' }), rules)).toBe('the-token');
  });

  test('counts for nothing where the service does not take it', () => {
    const strict = { ...rules, acceptsSessionCookie: false };
    expect(() => readCredential(request({ cookie }), strict)).toThrow('a token is needed');
  });
});

test('a malformed session cookie is refused like any malformed token', () => {
  const read = request({ cookie: 'session=%' });
  expect(() => readCredential(read, rules)).toThrow('the session cookie is malformed');
});

test('a header goes before a cookie, and a malformed one is not replaced by it', () => {
  const both = { authorization: 'Bearer a.b.c', 'x-api-key': 'k', cookie };
  expect(readCredential(request(both), rules)).toBe('a.b.c');
  const malformed = { ...both, authorization: 'Basic x' };
  expect(() => readCredential(request(malformed), rules)).toThrow('malformed');
});

test('one space stands between Bearer and the token, and nothing else', () => {
  expect(readCredential(request({ authorization: 'bearer a.b.c' }), rules)).toBe('a.b.c');
  for (const wrong of ['', '  ', '\t', ' \t']) {
    const other = request({ authorization: `Bearer${wrong}a.b.c` });
    expect(() => readCredential(other, rules)).toThrow('malformed');
  }
});

test('a token in the query is taken where the rules say so only', () => {
  const query = request({}, { url: '/stream?x=1&access_token=a.b.c' });
  expect(() => readCredential(query, rules)).toThrow('a token is needed');
  const taken = { ...rules, acceptsQueryToken: true };
  expect(readCredential(query, taken)).toBe('a.b.c');
  const twice = request({}, { url: '/stream?access_token=a.b.c&access_token=d.e.f' });
  expect(() => readCredential(twice, taken)).toThrow('stands twice');
});

import { expect, test } from 'vitest';
import { findRedirect, redirectHop } from './redirects.ts';

const hop = {
  url: new URL('https://a.test/'),
  method: 'GET',
  headers: new Headers({ authorization: 'Bearer s' }),
  body: null,
};

test('a redirect that gives up encryption is refused, also on the same host', () => {
  const blocked = expect.objectContaining({ code: 'forbidden', reason: 'egress_blocked' });
  expect(() => redirectHop(hop, 307, new URL('http://a.test/'))).toThrow(blocked);
});

test('another port of the same host is another origin, and gets no secret', () => {
  expect(redirectHop(hop, 307, new URL('https://a.test:8443/')).headers.has('authorization')).toBe(
    false,
  );
  expect(redirectHop(hop, 307, new URL('https://a.test/b')).headers.has('authorization')).toBe(
    true,
  );
});

test('only 301, 302, 303, 307 and 308 with a place are redirects', () => {
  const headers = new Headers({ location: '/b' });
  const followed = [200, 201, 300, 301, 302, 303, 304, 305, 307, 308, 404].filter(
    (status) => findRedirect(status, headers) !== undefined,
  );
  expect(followed).toEqual([301, 302, 303, 307, 308]);
  expect(findRedirect(302, new Headers())).toBeUndefined();
});

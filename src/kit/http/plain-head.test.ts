import { expect, test } from 'vitest';
import { readPlainHead } from './plain-head.ts';

const plain = ['Host', 'localhost', 'content-type', 'application/json', 'Content-Length', '12'];

test('what the edge asks for is found, however its name is written', () => {
  const more = ['AUTHORIZATION', 'Bearer a', 'X-Request-Id', 'r-1', 'x-other', '1', 'x-other', '2'];
  expect(readPlainHead([...plain, ...more])).toEqual({
    host: 'localhost',
    authorization: 'Bearer a',
    traceparent: undefined,
    'x-request-id': 'r-1',
    bodyBytes: 12,
    isJson: true,
  });
});

test('a head without a body says so', () => {
  expect(readPlainHead(['host', 'localhost'])).toMatchObject({ bodyBytes: 0, isJson: false });
});

test.each([
  ['Transfer-Encoding', 'chunked'],
  ['expect', '100-continue'],
  ['content-encoding', 'gzip'],
  ['HOST', 'elsewhere'],
  ['content-length', '12'],
  ['Content-Type', 'text/plain'],
])('a head with %s: %s besides is left to those who read with care', (name, value) => {
  expect(readPlainHead([...plain, name, value])).toBeUndefined();
});

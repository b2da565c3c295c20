import { expect, test } from 'vitest';
import { refuseForeign } from './foreign-origin.ts';

const ownUrl = 'https://models.example.com';

test.each([
  'evil.example',
  'models.example.com.evil.example',
  '127.0.0.1.evil.example',
  'localhost.evil.example:7',
  '',
  'a b',
])('a Host that a foreign name server can answer for is refused: "%s"', (host) => {
  expect(() => refuseForeign({ host }, ownUrl)).toThrow(
    expect.objectContaining({ code: 'forbidden', reason: 'host_refused' }),
  );
});

test('a request without Host is refused', () => {
  expect(() => refuseForeign({}, ownUrl)).toThrow(
    expect.objectContaining({ reason: 'host_refused' }),
  );
});

test.each(['https://evil.example', 'null', 'http://192.0.2.7', 'file://', ''])(
  'a foreign Origin is refused: "%s"',
  (origin) => {
    expect(() => refuseForeign({ host: 'models.example.com', origin }, ownUrl)).toThrow(
      expect.objectContaining({ code: 'forbidden', reason: 'origin_refused' }),
    );
  },
);

test.each([
  ['models.example.com', undefined],
  ['models.example.com:443', 'https://models.example.com'],
  ['127.0.0.1:3007', 'http://localhost:6274'],
  ['localhost:3007', 'http://127.0.0.1:1'],
  ['[::1]:3007', 'http://[::1]:1'],
  ['192.0.2.7:3007', undefined],
])('Host %s with Origin %s is served', (host, origin) => {
  expect(() => refuseForeign({ host, ...(origin ? { origin } : {}) }, ownUrl)).not.toThrow();
});

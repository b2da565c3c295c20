import { expect, test } from 'vitest';
import { readConfig } from '../kit/config.ts';
import { authSettings } from './config.ts';

const read = (redirectUris: string) =>
  readConfig({ auth: authSettings }, { AUTH_REDIRECT_URIS: redirectUris }).auth.redirectUris;

test.each([
  'nope',
  'javascript:alert(1)',
  'https://app.example/callback,javascript:alert(1)',
  'https://app.example/#fragment',
  'app.example/callback, https://app.example/',
])('no address to return to is %s', (text) => {
  expect(() => read(text)).toThrow(
    `AUTH_REDIRECT_URIS must be http(s) addresses without a fragment, separated by commas, not "${text}"`,
  );
});

test.each([
  'https://app.example/callback',
  'http://localhost:3000/cb?a=1, https://app.example/,',
  ' https://one.example/a ,, https://two.example/b ',
])('addresses to return to are %j', (text) => {
  expect(read(text)).toBe(text);
});

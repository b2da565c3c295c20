import { expect, test } from 'vitest';
import { withoutCredentials } from './credentials.ts';

test.each([
  ['postgres://u:secret@h/db', 'postgres://h/db'],
  ['https://ghp_secret@h/a', 'https://h/a'],
  ['https://{user}:secret@h/', 'https://h/'],
  ['https://h/?api_key=secret&token=secret&q=1#x', 'https://h/?api_key=&token=&q=1#x'],
  ['={{ $json.base }}/x?key=secret&a={{ $json.b }}', '={{ $json.base }}/x?key=&a={{ $json.b }}'],
  ['https://h/cb#access_token=secret&state=1', 'https://h/cb#access_token=&state=1'],
  ['Server=h;Password=secret', 'Server=h;Password='],
  ['ask https://h/?sig=secret now', 'ask https://h/?sig= now'],
])('%s loses its credentials', (text, expected) => {
  expect(withoutCredentials(text)).toBe(expected);
});

test.each([
  'https://h/?page=2&id=a@b',
  'https://h/?api_key={{ inputs.key }}',
  'https://{{ inputs.u }}:{{ inputs.p }}@h/',
  'https://{user}:{password}@h/?token=${ .token }',
  'see https://h/a@b, and write to a@b.c',
])('%s stays as it is', (text) => {
  expect(withoutCredentials(text)).toBe(text);
});

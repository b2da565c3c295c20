import { expect, test } from 'vitest';
import { UpstreamError } from '../dialects/upstream-error.ts';
import type { UpstreamFailure } from '../dialects/failure.ts';
import { Secrets } from './secrets.ts';

function shown(values: readonly string[], said: Partial<UpstreamFailure>): UpstreamFailure {
  const error = new UpstreamError({ kind: 'broken', message: '', ...said });
  const hidden = new Secrets(values).hideIn(error);
  if (hidden instanceof UpstreamError) return hidden.failure;
  throw new Error('it is another error');
}

test('stored values are cut out wherever they stand, whatever they look like', () => {
  const values = ['secret-of-acme', 'hdr SECRET+456'];
  const message = 'unknown credential SECRET-OF-ACME; team hdr SECRET+456, hdr%20SECRET%2B456';
  expect(shown(values, { message, code: 'chdr SECRET+456', param: 'secret-of-acme.x' })).toEqual({
    kind: 'broken',
    message: 'unknown credential [hidden]; team [hidden], [hidden]',
    code: 'c[hidden]',
    param: '[hidden].x',
  });
});

test('they are cut out of the details too', () => {
  const details = { error_code: 'no', of: ['secret-of-acme', 7, { 'secret-of-acme': null }] };
  expect(shown(['secret-of-acme'], { details }).details).toEqual({
    error_code: 'no',
    of: ['[hidden]', 7, { '[hidden]': null }],
  });
});

test.each(['sk-abc/def+ghi==', 'Bearer of all', 'a key: with words', 'ends with sk-abc'])(
  'nothing is left of a value that holds a known shape: %s',
  (value) => {
    expect(shown([value], { message: `no <${value}> here` }).message).toBe('no <[hidden]> here');
  },
);

test('of values that begin with one another the longer is hidden whole', () => {
  expect(shown(['team', 'team-blue'], { message: 'of team-blue' }).message).toBe('of [hidden]');
});

test('a value is not shown in part where a message is cut off', () => {
  const value = 'v'.repeat(40);
  const { message } = shown([value], { message: `${'x '.repeat(240)}${value}` });
  expect(message).not.toContain('v');
  expect(message.length).toBeLessThanOrEqual(500);
});

test.each([
  'Incorrect API key provided: sk-proj-abcDEF0123456789abcdef. You can find it at example.org.',
  'Incorrect API key provided: sk-abcde***********************wxyz.',
  'Invalid API Key: gsk_Ab12Cd34Ef56Gh78',
  'API key not valid: AIzaSyA-abcdefghijklmnop_123456',
  'Unauthorized: Bearer abcdefgh12345678',
  'Access denied for key 0123456789abcdef0123456789abcdef in region',
  'Rate limit reached for gpt-4o in organization org-Ab12Cd34Ef on tokens per min',
  'Project `proj_Ab12Cd34Ef` does not have access to model gpt-4o',
])('what looks like a key or the name of an account is hidden too: %s', (message) => {
  const failure = shown([], { message, code: message });
  for (const text of [failure.message, failure.code]) {
    expect(text).toContain('[hidden]');
    for (const secret of message.match(/[\w*-]*(?:abc|Ab12|AIza|0123456)[\w*-]*/g) ?? []) {
      expect(text).not.toContain(secret);
    }
  }
});

test('messages stay readable and bounded, on one line', () => {
  const message =
    'The model `meta-llama/Llama-3.3-70B-Instruct-Turbo` takes no images (request 1).';
  expect(shown(['key'], { message }).message).toBe(message);
  expect(shown([], { message: ' Bad\n\n gateway ' }).message).toBe('Bad gateway');
  expect(shown([], { message: 'x y '.repeat(10_000) }).message).toHaveLength(500);
});

test('errors of our own stay as they are', () => {
  const error = new Error('a bug');
  expect(new Secrets(['a bug']).hideIn(error)).toBe(error);
});

import { describe, expect, test } from 'vitest';
import type { ErrorAnswer } from '../failure.ts';
import { readFailure } from './failure.ts';

const errorOf = (type: string, message: string) => ({ type: 'error', error: { type, message } });

const answer = (status: number, body: unknown, headers: ErrorAnswer['headers'] = {}) =>
  readFailure({ status, headers, body });

describe('an error answer of Anthropic', () => {
  test.each([
    [429, 'rate_limit_error', 'This request would exceed your rate limit', 'limited'],
    [529, 'overloaded_error', 'Overloaded', 'broken'],
    [500, 'api_error', 'Internal server error', 'broken'],
    [504, 'timeout_error', 'Request timed out', 'late'],
    [401, 'authentication_error', 'invalid x-api-key', 'refused'],
    [402, 'billing_error', 'Your account has no credit', 'refused'],
    [403, 'permission_error', 'Your key may not use this model', 'refused'],
    [404, 'not_found_error', 'model: claude-9', 'missing'],
    [404, 'not_found_error', 'Not found', 'missing'],
    [404, 'not_found_error', 'file_011CNha not found', 'rejected'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'too-long'],
    [
      400,
      'invalid_request_error',
      'prompt is too long: 210000 tokens > 200000 maximum',
      'too-long',
    ],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API', 'refused'],
    [400, 'invalid_request_error', 'max_tokens: must be greater than 0', 'rejected'],
  ])('%i %s (%s) is %s', (status, type, message, kind) => {
    expect(answer(status, errorOf(type, message))).toMatchObject({ kind, status, code: type });
  });

  test.each([
    [401, 'refused'],
    [404, 'missing'],
    [408, 'late'],
    [422, 'rejected'],
    [429, 'limited'],
    [502, 'broken'],
  ])('%i without words of Anthropic is %s', (status, kind) => {
    const { message, ...failure } = answer(status, '<html>Bad Gateway</html>');
    expect(failure).toEqual({ kind, status });
    expect(message).not.toContain('html');
  });

  test('about a key tells the caller nothing of the key', () => {
    const body = errorOf('authentication_error', 'invalid x-api-key sk-ant-api03-abcdef');
    expect(answer(401, body).message).not.toContain('sk-ant');
  });

  test('names the field that it complains of', () => {
    const body = errorOf('invalid_request_error', 'messages.0.content: Field required');
    expect(answer(400, body).param).toBe('messages.0.content');
  });

  test.each([
    [404, 'not_found_error', 'thread_not_found', 'rejected'],
    [404, 'not_found_error', 'model_not_found', 'missing'],
    [409, 'conflict_error', 'thread_continue_in_flight', 'rejected'],
    [429, 'rate_limit_error', 'too_fast', 'limited'],
  ])('%i %s with the details %s is %s, and the details are kept', (status, type, name, kind) => {
    const details = { error_code: name, unsupported: ['thinking'] };
    const error = { type, message: 'Sorry.', details };
    expect(answer(status, { type: 'error', error })).toMatchObject({ kind, details });
  });

  test('has no details where they are no object, or longer than an error is', () => {
    for (const details of ['thread_not_found', ['a'], { error_code: 'x'.repeat(5000) }]) {
      const error = { type: 'invalid_request_error', message: 'no', details };
      expect(answer(400, { type: 'error', error })).not.toHaveProperty('details');
    }
  });

  test('says when to come back by Retry-After, or by the limit that is used up', () => {
    const body = errorOf('rate_limit_error', 'slow down');
    expect(answer(429, body, { 'retry-after': '7' }).retryAfterMs).toBe(7000);
    const reset = new Date(Date.now() + 60_000).toISOString();
    const headers = {
      'anthropic-ratelimit-requests-remaining': '12',
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + 900_000).toISOString(),
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': reset,
    };
    const wait = answer(429, body, headers).retryAfterMs ?? 0;
    expect(wait).toBeGreaterThan(50_000);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect(answer(429, body)).not.toHaveProperty('retryAfterMs');
  });
});

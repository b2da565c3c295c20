import { describe, expect, test } from 'vitest';
import { readFailure } from './failure.ts';

const type = (name: string) => ({ '@type': `type.googleapis.com/google.rpc.${name}` });
const statusOf = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
});

const answer = (status: number, body: unknown) => readFailure({ status, headers: {}, body });

describe('an error answer of Google', () => {
  test.each([
    [400, 'INVALID_ARGUMENT', 'Invalid value at contents', 'rejected'],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'refused'],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'too-long',
    ],
    [400, 'FAILED_PRECONDITION', 'User location is not supported', 'refused'],
    [401, 'UNAUTHENTICATED', 'Request had invalid credentials', 'refused'],
    [403, 'PERMISSION_DENIED', 'Permission denied', 'refused'],
    [
      403,
      'PERMISSION_DENIED',
      'You do not have permission to access the File abc or it may not exist.',
      'rejected',
    ],
    [404, 'NOT_FOUND', 'models/gemini-9 is not found', 'missing'],
    [404, 'NOT_FOUND', 'The file abc does not exist', 'rejected'],
    [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', 'limited'],
    [500, 'INTERNAL', 'An internal error has occurred', 'broken'],
    [503, 'UNAVAILABLE', 'The model is overloaded', 'broken'],
    [504, 'DEADLINE_EXCEEDED', 'Deadline expired', 'late'],
  ])('%i %s (%s) is %s', (status, code, message, kind) => {
    const body = statusOf(status, code, message);
    expect(answer(status, body)).toMatchObject({ kind, status, code });
    expect(answer(status, [body])).toEqual(answer(status, body));
  });

  test('says when to come back', () => {
    const details = [{ ...type('QuotaFailure') }, { ...type('RetryInfo'), retryDelay: '17.5s' }];
    const body = statusOf(429, 'RESOURCE_EXHAUSTED', 'quota', details);
    expect(answer(429, body).retryAfterMs).toBe(17_500);
  });

  test('names the field that it complains of', () => {
    const fieldViolations = [{ field: 'contents[0].parts', description: 'bad' }];
    const details = [{ ...type('BadRequest'), fieldViolations }];
    const body = statusOf(400, 'INVALID_ARGUMENT', 'bad', details);
    expect(answer(400, body).param).toBe('contents[0].parts');
  });

  test('knows a bad key by its reason as well', () => {
    const details = [{ ...type('ErrorInfo'), reason: 'API_KEY_INVALID' }];
    expect(answer(400, statusOf(400, 'INVALID_ARGUMENT', 'no', details)).kind).toBe('refused');
  });

  test('that is no status of Google counts by its HTTP status', () => {
    expect(answer(502, '<html>')).toMatchObject({ kind: 'broken', status: 502 });
  });
});

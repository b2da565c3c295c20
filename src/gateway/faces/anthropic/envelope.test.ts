import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { Fault, type Code } from '../../../kit/errors.ts';
import { anthropicEnvelope, writeFailure } from './envelope.ts';

const context = { requestId: 'req_1', timestamp: '', path: '/v1/messages' };

describe("Anthropic's envelope", () => {
  test.each<[Code, string]>([
    ['invalid', 'invalid_request_error'],
    ['unauthenticated', 'authentication_error'],
    ['forbidden', 'permission_error'],
    ['not_found', 'not_found_error'],
    ['too_large', 'request_too_large'],
    ['exhausted', 'rate_limit_error'],
    ['internal', 'api_error'],
    ['upstream', 'api_error'],
    ['unavailable', 'overloaded_error'],
    ['deadline', 'timeout_error'],
  ])('words %s as %s', (code, type) => {
    const body = anthropicEnvelope.wrap(new Fault(code, 'Sorry.'), context);
    expect(body).toEqual({
      type: 'error',
      error: { type, message: 'Sorry.' },
      request_id: 'req_1',
    });
    expect(Value.Check(anthropicEnvelope.schema, body)).toBe(true);
  });

  test('words what must be paid as billing', () => {
    const fault = new Fault('forbidden', 'The budget is spent.', { status: 402 });
    expect(anthropicEnvelope.wrap(fault, context)).toMatchObject({
      error: { type: 'billing_error' },
    });
  });

  test('names the field once', () => {
    const named = new Fault('invalid', 'cannot be said there', { detail: { param: 'top_k' } });
    const own = new Fault('invalid', 'top_k: must be less', { detail: { param: 'top_k' } });
    const messageOf = (fault: Fault) =>
      (anthropicEnvelope.wrap(fault, context) as { error: { message: string } }).error.message;
    expect(messageOf(named)).toBe('top_k: cannot be said there');
    expect(messageOf(own)).toBe('top_k: must be less');
  });

  test('ends a stream by one event', () => {
    expect(writeFailure(new Fault('upstream', 'The answer broke off.'))).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The answer broke off."}}\n\n',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { openAiDialect } from '../openai.ts';
import { durationMs } from './retry-after.ts';

function fail(status: number, body: unknown, headers: Record<string, string> = {}) {
  return openAiDialect.readFailure({ status, headers, body });
}

const said = (message: string, fields: object = {}) => ({ error: { message, ...fields } });

describe('the kind of a failure', () => {
  it.each([
    [400, 'rejected'],
    [401, 'refused'],
    [402, 'refused'],
    [403, 'refused'],
    [404, 'missing'],
    [405, 'missing'],
    [408, 'late'],
    [409, 'limited'],
    [410, 'missing'],
    [413, 'too-long'],
    [415, 'rejected'],
    [422, 'rejected'],
    [425, 'limited'],
    [429, 'limited'],
    [498, 'limited'],
    [500, 'broken'],
    [502, 'broken'],
    [503, 'broken'],
    [504, 'late'],
    [524, 'late'],
    [529, 'broken'],
    [302, 'broken'],
  ])('follows status %i where the body says no more', (status, kind) => {
    for (const body of ['', undefined, '<html><title>oops</title></html>', said('oops'), {}]) {
      expect(fail(status, body)).toMatchObject({ kind, status });
    }
  });

  it.each([
    [
      400,
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    ],
    [
      400,
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 9.',
    ],
    [400, 'Your input exceeds the context window of this model. Please adjust your input.'],
    [400, 'The decoder prompt (length 9000) is longer than the maximum model length of 4096.'],
    [400, 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
    [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    [400, 'Please reduce the length of the messages or completion.'],
    [400, 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097.'],
    [400, '`inputs` must have less than 4096 tokens. Given: 5000'],
    [
      400,
      'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
    ],
    [400, 'the request exceeds the available context size, try increasing it'],
    [400, 'prompt is too long: 210000 tokens > 200000 maximum'],
    [400, 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
    [400, 'Input is too long for requested model.'],
    [400, 'invalid params, context window exceeds limit (2013)'],
    [400, 'Invalid request: Your request exceeded model token limit: 131072'],
    [400, 'The prompt is too long: 210000, model maximum context length: 131071'],
    [400, 'too many tokens: size limit exceeded by 11326 tokens'],
    [400, 'Prompt exceeds max length'],
    [413, 'Request body too large for gpt-4o model. Max size: 8000 tokens.'],
    [429, 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.'],
    [500, 'context length exceeded: the limit is 4096'],
  ])('is that the prompt is too long: %i %s', (status, message) => {
    expect(fail(status, said(message)).kind).toBe('too-long');
  });

  it.each([
    ['by code', 400, said('no', { code: 'context_length_exceeded' }), 'too-long'],
    ['by type', 400, said('no', { type: 'exceed_context_size_error' }), 'too-long'],
    [
      'a name too long',
      400,
      said("Invalid 'name': string too long. Expected a string with maximum length 64", {
        code: 'string_above_max_length',
      }),
      'rejected',
    ],
    [
      'too many answer tokens',
      400,
      said('max_tokens is too large: 99. This model supports at most 16 completion tokens', {
        param: 'max_tokens',
      }),
      'rejected',
    ],
    [
      'a parameter of another model',
      400,
      said(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      ),
      'rejected',
    ],
    [
      'quota',
      429,
      said('You exceeded your current quota', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
      'refused',
    ],
    [
      'quota at Gemini',
      429,
      said('You exceeded your current quota', { status: 'RESOURCE_EXHAUSTED' }),
      'limited',
    ],
    ['balance', 402, said('Insufficient Balance', { type: 'unknown_error' }), 'refused'],
    ['balance, badly told', 400, said('Insufficient account balance'), 'refused'],
    ['quota inside a stream', 200, said('no', { code: 'insufficient_quota' }), 'refused'],
    ['a key told as 400', 400, said('API key not valid. Please pass a valid API key.'), 'refused'],
    [
      'a key at xAI',
      400,
      {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: xa***st.',
      },
      'refused',
    ],
    ['a model told as 400', 400, said('Model Not Exist'), 'missing'],
    [
      'a model at OpenRouter',
      400,
      said('foo/bar is not a valid model ID', { code: 400 }),
      'missing',
    ],
    [
      'a model that is gone',
      400,
      said('The model `gemma-7b-it` has been decommissioned', { code: 'model_decommissioned' }),
      'missing',
    ],
    [
      'a model at Mistral',
      400,
      { object: 'error', message: 'Invalid model: foo', type: 'invalid_model', code: '1500' },
      'missing',
    ],
    [
      'a model not found',
      404,
      said('The model `x` does not exist or you do not have access to it.', {
        code: 'model_not_found',
      }),
      'missing',
    ],
    [
      'an address where nothing is',
      404,
      said('Invalid URL (POST /v1/chat/completions)'),
      'missing',
    ],
    ['a file that is not there, by its id', 404, said('file_1 not found'), 'rejected'],
    [
      'an item that is not there',
      404,
      said('Item not found', { param: 'input', code: 'item_not_found' }),
      'rejected',
    ],
    ['a page of a server of files', 404, 'File not found', 'missing'],
    [
      'a model without a way to it',
      404,
      said('No endpoints found that support image input', { code: 404 }),
      'missing',
    ],
    [
      'Azure filters',
      400,
      said('The response was filtered due to the prompt', {
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      }),
      'filtered',
    ],
    [
      'OpenAI filters',
      400,
      said('Your request was rejected as a result of our safety system.', {
        code: 'content_policy_violation',
      }),
      'filtered',
    ],
    ['DeepSeek filters', 400, said('Content Exists Risk'), 'filtered'],
    [
      'OpenRouter filters',
      403,
      said(
        'anthropic/claude requires moderation on Anthropic. Your input was flagged for "violence"',
        { code: 403 },
      ),
      'filtered',
    ],
    [
      'xAI filters',
      403,
      { code: 'forbidden', error: 'Content violates usage guidelines.' },
      'filtered',
    ],
    [
      'a body of the wrong form',
      422,
      {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'logit_bias'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
      'rejected',
    ],
    ['a limit told as 400', 400, said('slow down', { code: 'rate_limit_exceeded' }), 'limited'],
    ['an error that names its status', 200, said('Bad gateway', { code: 502 }), 'broken'],
  ])('is what the provider says: %s', (_, status, body, kind) => {
    expect(fail(status, body).kind).toBe(kind);
  });
});

describe('the words of a failure', () => {
  it.each([
    [
      'OpenAI',
      said('Bad', { param: 'messages', code: 'x', type: 't' }),
      { message: 'Bad', param: 'messages', code: 'x' },
    ],
    [
      'the type alone',
      said('Bad', { param: null, code: null, type: 't' }),
      { message: 'Bad', code: 't' },
    ],
    ['a number as code', said('Bad', { code: 400 }), { message: 'Bad', code: '400' }],
    [
      'Gemini',
      [said('Bad', { code: 400, status: 'INVALID_ARGUMENT' })],
      { message: 'Bad', code: '400' },
    ],
    ['xAI', { code: 'c', error: 'Bad' }, { message: 'Bad', code: 'c' }],
    [
      'Mistral',
      { object: 'error', message: { detail: [{ loc: ['body', 'n'], msg: 'Bad' }] } },
      { message: 'Bad', param: 'n' },
    ],
    ['FastAPI', { detail: 'Bad' }, { message: 'Bad' }],
    ['plain text', ' Bad\n\n gateway ', { message: 'Bad\n\n gateway' }],
    ['a web page', '<html>', { message: 'the provider answered 400' }],
  ])('are found where %s puts them', (_, body, words) => {
    const { kind: _kind, status: _status, ...rest } = fail(400, body);
    expect(rest).toEqual(words);
  });
});

describe('when a repetition may succeed', () => {
  it.each([
    [{ 'retry-after': '20' }, 20_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '1500', 'retry-after': '20' }, 1500],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m30s' }, 90_000],
    [
      {
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '7.66s',
        'x-ratelimit-reset-requests': '2h',
      },
      7660,
    ],
    [{ 'x-ratelimit-reset-requests': '2h' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': '99999999' }, 86_400_000],
    [{}, undefined],
  ])('is read from headers %o', (headers, wait) => {
    expect(fail(429, said('slow'), headers as Record<string, string>).retryAfterMs).toBe(wait);
  });

  it('is read from a date, and from times in the headers that OpenRouter passes on', () => {
    const inAMinute = new Date(Date.now() + 60_000);
    const dated = fail(503, '', { 'retry-after': inAMinute.toUTCString() }).retryAfterMs ?? 0;
    expect(dated).toBeGreaterThan(57_000);
    expect(dated).toBeLessThan(61_000);
    const metadata = { headers: { 'X-RateLimit-Reset': String(inAMinute.getTime()) } };
    const passed = fail(429, said('slow', { metadata })).retryAfterMs ?? 0;
    expect(passed).toBeGreaterThan(55_000);
    expect(passed).toBeLessThan(61_000);
  });

  it('is read from the words, where nothing else says it', () => {
    const words = 'Limit 30000, Used 29000. Please try again in 1m2.5s. Visit example.org.';
    expect(fail(429, said(words)).retryAfterMs).toBe(62_500);
    expect(fail(429, said('Please try again in 6ms.')).retryAfterMs).toBe(6);
    expect(fail(429, said('Please try again later.')).retryAfterMs).toBeUndefined();
  });

  it('takes every unit of a duration', () => {
    expect(durationMs('1d2h3m4s5ms')).toBe(93_784_005);
    expect(durationMs('1 week')).toBeUndefined();
  });
});

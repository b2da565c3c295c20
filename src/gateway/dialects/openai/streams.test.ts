import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../upstream-error.ts';
import { readAnswer, readUsage } from './answer.ts';
import { fixtures } from './fixtures.ts';
import { answerOf, chunk, delta, events, head, readStream, watchStream } from './testing.ts';

const done = 'data: [DONE]\n\n';

function failureOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    if (error instanceof UpstreamError) return error.failure;
    throw error;
  }
  return undefined;
}

describe('a stream of chat completion chunks', () => {
  it.each(fixtures)('makes the same answer as the whole one: $provider', ({ stream, answer }) => {
    const read = readAnswer(answer);
    expect(answerOf(stream)).toEqual(read);
    expect(read.choices[0]?.parts.length).toBeGreaterThan(0);
  });

  it.each(fixtures)('ends with the end that its provider says: $provider', ({ stream }) => {
    expect(readStream(stream).at(-1)).toEqual({ type: 'end' });
    expect(readStream(stream)[0]?.type).toBe('start');
  });

  it.each(fixtures)('is watched to the same end and usage: $provider', ({ stream, answer }) => {
    const watch = watchStream(stream);
    expect(watch).toMatchObject({ isStarted: true, isComplete: true, isEnded: true });
    expect(watch.usage).toEqual(readUsage(answer));
    const whole = watchStream(stream.slice(0, stream.indexOf('data: [DONE]')));
    expect(whole).toMatchObject({ isComplete: true, isEnded: false });
  });

  it.each(fixtures)('is not complete before its finish: $provider', ({ stream }) => {
    const cut = stream.slice(0, stream.search(/data:[^\n]*finish_reason" ?: ?"/));
    expect(watchStream(cut).isComplete).toBe(false);
    expect(failureOf(() => answerOf(cut))?.kind).toBe('truncated');
  });

  it.each([
    ['a role alone', chunk('m', { role: 'assistant', content: '' }), false],
    ['an empty first chunk', { ...head, id: '', choices: [] }, false],
    ['a text', chunk('m', { content: 'x' }), true],
    ['a thought', chunk('m', { reasoning_content: 'x' }), true],
    ['a thought of OpenRouter', chunk('m', { reasoning: 'x' }), true],
    ['a call', chunk('m', { tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] }), true],
    ['a refusal', chunk('m', { refusal: 'no' }), true],
    ['an end at once', chunk('m', {}, 'stop'), true],
  ])('has begun, or not, with %s', (_, first, isStarted) => {
    expect(watchStream(events(first)).isStarted).toBe(isStarted);
  });

  it('waits for every choice, though the second begins after the end of the first', () => {
    const begin = events(chunk('m', { content: 'a' }), chunk('m', {}, 'stop'));
    const second = (fields: object, finish: string | null = null) =>
      events({ ...head, model: 'm', choices: [delta(fields, finish, 1)] });
    expect(watchStream(begin + second({ content: 'b' })).isComplete).toBe(false);
    expect(watchStream(begin + second({ content: 'b' }) + second({}, 'length')).isComplete).toBe(
      true,
    );
    const answer = answerOf(begin + second({ content: 'b' }) + second({}, 'length') + done);
    expect(answer.choices.map(({ finish }) => finish)).toEqual(['stop', 'length']);
  });

  it('is not deceived by an answer that speaks of its own framing', () => {
    const text = 'data: [DONE]\n\n "usage":{"prompt_tokens":9} "error" "finish_reason":"stop"';
    const stream = events(chunk('m', { content: 'x' }), chunk('m', { content: text }));
    const watch = watchStream(stream);
    expect(watch).toMatchObject({ isComplete: false, isEnded: false, usage: undefined });
    expect(watchStream(events(chunk('m', { content: 'error' })) + stream).isComplete).toBe(false);
  });

  it('reads usage and ends in any white space', () => {
    const stream =
      'data:{"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n' +
      'data: {"choices" : [ {"index" : 0, "delta" : {}, "finish_reason" : "stop"} ]}\n\n' +
      'data: {"choices": [],\ndata:  "usage" :\ndata: {"prompt_tokens": 1, "completion_tokens": 2}}\n\n' +
      'data:[DONE]\n\n';
    expect(watchStream(stream)).toMatchObject({
      isComplete: true,
      isEnded: true,
      usage: { inputTokens: 1, outputTokens: 2 },
    });
  });

  it('tells calls apart by their ids where a server gives all the same number', () => {
    const call = (id: string, name: string) =>
      chunk('m', { tool_calls: [{ index: 0, id, function: { name, arguments: '{}' } }] });
    const answer = answerOf(events(call('a', 'f'), call('b', 'g'), chunk('m', {}, 'tool_calls')));
    expect(answer.choices[0]?.parts).toMatchObject([
      { id: 'a', name: 'f' },
      { id: 'b', name: 'g' },
    ]);
  });

  it('keeps one call whose id and name a server repeats, with or without a number', () => {
    const piece = (fields: object, text: string) =>
      chunk('m', { tool_calls: [{ ...fields, function: { name: 'f', arguments: text } }] });
    for (const fields of [{ index: 0, id: 'a' }, { id: 'a' }]) {
      const stream = events(piece(fields, '{"x"'), piece(fields, ':1}'), chunk('m', {}, 'stop'));
      expect(answerOf(stream).choices[0]).toMatchObject({
        parts: [{ id: 'a', name: 'f', arguments: '{"x":1}' }],
        finish: 'tool-calls',
      });
    }
  });

  it('gives a call an id where the server gives none, and takes arguments that are no text', () => {
    const stream = events(
      chunk('m', { tool_calls: [{ index: 0, function: { name: 'f', arguments: { a: 1 } } }] }),
      chunk('m', {}, 'tool_calls'),
    );
    expect(answerOf(stream).choices[0]?.parts[0]).toMatchObject({
      id: expect.stringMatching(/^call_\w{24}$/),
      arguments: '{"a":1}',
    });
  });

  it.each([
    ['no finish at all', [chunk('m', { content: 'x' })]],
    ['no chunk', []],
    [
      'no finish of one of two choices',
      [
        {
          ...head,
          model: 'm',
          choices: [delta({ content: 'a' }), delta({ content: 'b' }, null, 1)],
        },
        chunk('m', {}, 'stop'),
      ],
    ],
  ])('is cut off that says that it is done with %s', (_, chunks) => {
    const stream = events(...chunks) + done;
    expect(watchStream(stream)).toMatchObject({ isComplete: false, isEnded: true });
    expect(readStream(stream).at(-1)?.type).not.toBe('end');
    expect(failureOf(() => answerOf(stream))?.kind).toBe('truncated');
  });

  it('tells a call once its name has come, with all that came before', () => {
    const piece = (named: object, id?: string) =>
      chunk('m', { tool_calls: [{ index: 0, id, function: named }] });
    const late = events(piece({ arguments: '{"a"' }, 'c'), piece({ arguments: ':' }));
    expect(readStream(late).map(({ type }) => type)).toEqual(['start']);
    const whole = late + events(piece({ name: 'f', arguments: '1}' }), chunk('m', {}, 'stop'));
    const told = readStream(whole).filter(({ type }) => type === 'tool-call');
    expect(told).toEqual([
      { type: 'tool-call', choice: 0, call: 0, id: 'c', name: 'f', arguments: '{"a":1}' },
    ]);
    const never = late + events(chunk('m', {}, 'tool_calls'));
    expect(failureOf(() => readStream(never))?.kind).toBe('broken');
  });

  it('calls a tool in the old words of OpenAI too', () => {
    const call = (fields: object) => chunk('m', { function_call: fields });
    const stream = events(
      call({ name: 'f', arguments: '{"a"' }),
      call({ arguments: ':1}' }),
      chunk('m', {}, 'function_call'),
    );
    const answer = {
      ...head,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
          finish_reason: 'function_call',
        },
      ],
    };
    for (const { choices } of [answerOf(stream), readAnswer(answer)]) {
      const id = expect.stringMatching(/^call_/);
      expect(choices[0]).toMatchObject({
        parts: [{ type: 'tool-call', id, name: 'f', arguments: '{"a":1}' }],
        finish: 'tool-calls',
      });
    }
  });

  it('cannot be passed on where it is spoken', () => {
    const audio = { id: 'a', data: 'AA==', transcript: 'Hi' };
    expect(failureOf(() => readStream(events(chunk('m', { audio }))))?.kind).toBe('untranslatable');
    const message = { content: null, audio };
    const answer = { ...head, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(failureOf(() => readAnswer(answer))?.message).toContain('audio');
  });

  it.each([-1, 1.5, 1e13, Number.NaN])('counts nothing where %s tokens are said', (count) => {
    const message = { content: 'x' };
    const answer = {
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: count,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: count },
      },
    };
    expect(readUsage(answer)).toEqual({ inputTokens: 0, outputTokens: 2, cachedInputTokens: 0 });
  });

  it('keeps a refusal and log probabilities', () => {
    const token = { token: 'a', logprob: -0.1, bytes: null, top_logprobs: [] };
    const one = { ...delta({ content: 'a' }), logprobs: { content: [token], refusal: null } };
    const stream = events(
      { ...head, model: 'm', choices: [one] },
      { ...head, model: 'm', choices: [one] },
      chunk('m', { refusal: 'no' }),
      chunk('m', {}, 'stop'),
    );
    expect(answerOf(stream).choices[0]).toMatchObject({
      parts: [
        { type: 'text', text: 'aa' },
        { type: 'refusal', text: 'no' },
      ],
      logprobs: { content: [token, token], refusal: null },
    });
  });
});

describe('a stream that goes wrong', () => {
  const begun = events(chunk('m', { content: 'x' }));

  it.each([
    [
      'OpenAI',
      'data: {"error":{"message":"The server had an error","type":"server_error"}}',
      'broken',
    ],
    [
      'Groq',
      'event: error\ndata: {"error":{"message":"over capacity","code":"rate_limit_exceeded"}}',
      'limited',
    ],
    [
      'old vLLM',
      'data: {"object":"error","message":"boom","type":"InternalServerError","code":500}',
      'broken',
    ],
    [
      'vLLM',
      'data: {"error": {"message": "This model\'s maximum context length is 10 tokens", "code": 400}}',
      'too-long',
    ],
    [
      'OpenRouter',
      `data: ${JSON.stringify({ ...chunk('m', {}, 'error'), error: { code: 429, message: 'slow' } })}`,
      'limited',
    ],
    [
      'Gemini',
      'data: [{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]',
      'broken',
    ],
    ['an error event', 'event: error\ndata: {"message":"gone"}', 'broken'],
    ['an error as text', 'data: {"error":"unexpected EOF"}', 'broken'],
    [
      'DeepSeek',
      `data: ${JSON.stringify(chunk('m', {}, 'insufficient_system_resource'))}`,
      'broken',
    ],
    ['a proxy', 'data: <html>502</html>', 'broken'],
    ['a list', 'data: [1]', 'broken'],
  ])('fails as its provider says: %s', (_, event, kind) => {
    for (const stream of [`${event}\n\n`, `${begun}${event}\n\n`]) {
      expect(failureOf(() => readStream(stream))?.kind).toBe(kind);
      expect(failureOf(() => watchStream(stream))?.kind).toBe(kind);
    }
  });
});

describe('a whole answer that is none', () => {
  const choice = (fields: object) => ({ id: 'x', model: 'm', choices: [{ index: 0, ...fields }] });
  const counted = { usage: { prompt_tokens: 1, completion_tokens: 1 } };

  it.each([
    ['no object', 'OK', 'broken'],
    ['nothing', undefined, 'broken'],
    ['no choices', { id: 'x', choices: [] }, 'broken'],
    ['an error with status 200', { error: { message: 'no', type: 'server_error' } }, 'broken'],
    ['an error that names a status', { error: { message: 'no', code: 429 } }, 'limited'],
    ['a message of nothing', choice({ message: { content: null }, finish_reason: null }), 'broken'],
    ['no message', choice({}), 'broken'],
    ['an end without a message', choice({ finish_reason: 'stop' }), 'broken'],
    ['a message that is a text', choice({ message: 'hi', finish_reason: 'stop' }), 'broken'],
    [
      'a text without its end',
      choice({ message: { content: 'x' }, finish_reason: null }),
      'truncated',
    ],
    ['an end that is none', choice({ message: { content: '' }, finish_reason: 'error' }), 'broken'],
  ])('is refused: %s', (_, body, kind) => {
    expect(failureOf(() => readAnswer(body))?.kind).toBe(kind);
    const withUsage = typeof body === 'object' ? { ...body, ...counted } : body;
    expect(failureOf(() => readUsage(withUsage))?.kind).toBe(kind);
  });

  it('may be empty if it says that it stopped', () => {
    const answer = readAnswer(choice({ message: { content: '' }, finish_reason: 'stop' }));
    expect(answer.choices).toEqual([{ index: 0, parts: [], finish: 'stop' }]);
  });

  it('is counted by its text where the provider does not count', () => {
    const body = choice({ message: { content: 'so it is' }, finish_reason: 'stop' });
    const estimate = { inputTokens: 0, outputTokens: 2, isEstimated: true };
    expect(readAnswer(body).usage).toEqual(estimate);
    expect(readUsage(body)).toEqual(estimate);
  });
});

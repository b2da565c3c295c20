import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { describeModel, scriptedEnd, ScriptedInference } from '../inference/testing.ts';
import { startDialects } from '../dialects-testing.ts';

const inference = new ScriptedInference([
  describeModel('tiny'),
  describeModel('embedder', { capabilities: ['embedding'], embeddingDimensions: 4 }),
]);

let service: Awaited<ReturnType<typeof startDialects>>;

beforeAll(async () => {
  service = await startDialects(inference);
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(() => {
  inference.events = [scriptedEnd];
  inference.embedFault = undefined;
  inference.requests.length = 0;
});

const messages = [{ role: 'user', content: 'Hello' }];
const tool = { type: 'function', function: { name: 'weather' } };

describe('what a chat cannot have is refused by name', () => {
  test.each([
    ['logprobs', { logprobs: true }],
    ['grammar', { grammar: 'root ::= "a"' }],
    ['guided_json', { guided_json: { type: 'object' } }],
    ['min_tokens', { min_tokens: 5 }],
    ['ignore_eos', { ignore_eos: true }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['logit_bias', { logit_bias: { 50256: -100 } }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
    ['n', { n: 2 }, 'n other than 1'],
    ['think', { think: true }],
    ['mirostat', { mirostat: 2 }, 'mirostat other than 0'],
    ['repeat_last_n', { repeat_last_n: 0 }, 'repeat_last_n other than 64'],
    ['repetition_penalty', { repetition_penalty: 1.8 }, 'repetition_penalty other than 1'],
    ['modalities', { modalities: ['text', 'audio'] }, 'modalities other than text'],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      'messages[0].content[0] of type image_url',
    ],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'refusal', refusal: 'No.' }] }] },
      'messages[0].content[0] of type refusal',
    ],
  ])('%s', async (param, fields, what = param) => {
    const { status, error } = await service.post('/v1/chat/completions', { messages, ...fields });
    expect({ status, error }).toEqual({
      status: 400,
      error: {
        message: `${what} is not supported by local models`,
        type: 'invalid_request_error',
        param,
        code: 'unsupported_parameter',
      },
    });
    expect(inference.requests).toEqual([]);
  });

  test.each([
    ['temperature', { temperature: -0.1 }],
    ['temperature', { temperature: 'hot' }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_tokens', { max_tokens: 1.5 }],
    ['top_p', { top_p: 2 }],
    ['messages', { messages: undefined }],
    ['messages', { messages: [] }],
    ['messages[0].role', { messages: [{ role: 'nobody', content: 'a' }] }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{}] }] }],
    ['messages', { messages: Array.from({ length: 2049 }, () => messages[0]) }],
    ['stop', { stop: Array.from({ length: 17 }, () => 'x') }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: '1', tool_call_id: 'c' }] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tools: [tool], tool_choice: { type: 'function', function: { name: 'x' } } }],
    ['response_format.json_schema.schema', { response_format: { type: 'json_schema' } }],
  ])('%s that makes no sense (%#)', async (param, fields) => {
    const { status, error } = await service.post('/v1/chat/completions', { messages, ...fields });
    expect(status).toBe(400);
    expect(error.param).toBe(param);
    expect(inference.requests).toEqual([]);
  });

  test.each(['{"a":', '[1]', 'null', '{"__proto__":{}}'])(
    'arguments of a call that are no object: %s',
    async (json) => {
      const toolCall = { id: 'c', type: 'function', function: { name: 'f', arguments: json } };
      const chat = [{ role: 'assistant', content: null, tool_calls: [toolCall] }];
      const { status, error } = await service.post('/v1/chat/completions', { messages: chat });
      expect(status).toBe(400);
      expect(error.param).toBe('messages[0].tool_calls');
    },
  );

  test('NaN is no JSON', async () => {
    const body = '{"messages":[{"role":"user","content":"a"}],"temperature":NaN}';
    expect(await service.post('/v1/chat/completions', body)).toMatchObject({
      status: 400,
      error: { code: 'invalid_json' },
    });
  });

  test.each([
    ['messages', '/v1/chat/completions', { messages }],
    ['messages', '/v1/chat/completions', { messages, stream: true }],
    ['prompt', '/v1/completions', { prompt: 'Hello' }],
    ['prompt', '/v1/completions', { prompt: 'Hello', stream: true }],
    ['input', '/v1/embeddings', { model: 'embedder', input: 'Hello' }],
  ])('what is too long is named as the client named it: %s of %s %o', async (param, path, body) => {
    const code = 'context_length_exceeded';
    const fault = new Fault('invalid', 'the text has 9000 tokens', { reason: code });
    inference.events = [fault];
    inference.embedFault = fault;
    const { status, error } = await service.post(path, body);
    const message = 'the text has 9000 tokens';
    const type = 'invalid_request_error';
    expect({ status, error }).toEqual({ status: 400, error: { message, type, param, code } });
  });

  test('a schema that cannot be followed is named as the client named it', async () => {
    inference.events = [
      new Fault('invalid', 'format uses if, which cannot be followed', {
        reason: 'unsupported_schema',
        detail: { param: 'format', keyword: 'if' },
      }),
    ];
    const schema = { type: 'object', if: {} };
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    const { status, error } = await service.post('/v1/chat/completions', {
      messages,
      response_format,
    });
    expect({ status, error }).toEqual({
      status: 400,
      error: {
        message: 'response_format uses if, which cannot be followed',
        type: 'invalid_request_error',
        param: 'response_format',
        code: 'unsupported_schema',
      },
    });
  });
});

import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateImage, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DialectName } from './dialects/dialect.ts';
import { startGateway, startProvider, type Received, type ScriptedProvider } from './testing.ts';

const dialectNames: readonly DialectName[] = ['openai', 'anthropic', 'gemini', 'ollama'];
const basePaths = { openai: '/v1', anthropic: '/v1', gemini: '/v1beta', ollama: '' };

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
  for (const dialect of dialectNames) {
    await gateway.put(`p-${dialect}`, {
      dialect,
      baseUrl: upstream.url + basePaths[dialect],
      apiKey: 'up-key',
      models: [
        { name: `m-${dialect}`, capabilities: ['chat', 'tools', 'json', 'vision', 'reasoning'] },
        { name: `i-${dialect}`, capabilities: ['image'] },
      ],
    });
  }
  const apiKey = gateway.user;
  openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({
    authToken: apiKey,
    apiKey: null,
    baseURL: gateway.url,
    maxRetries: 0,
  });
});

beforeEach(() => {
  upstream.script((received, response) => answer(received, response));
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const words = ['It is ', '21 degrees ', 'in Zürich.'];
const text = words.join('');
const callArguments = { city: 'Zürich' };

/** A provider in all four dialects: asks for the weather once if it may, then tells it. */
function answer(
  received: Received,
  response: Parameters<Parameters<ScriptedProvider['script']>[0]>[1],
) {
  const { path, body } = received;
  const mayCall = JSON.stringify(body).includes('get_weather') && !hasResult(body);
  const write = (type: string, pieces: readonly string[]) => {
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) response.write(piece);
    response.end();
  };
  const sse = (events: readonly unknown[], isNamed = false) =>
    events.map((event) => {
      const name = isNamed ? `event: ${(event as { type: string }).type}\n` : '';
      return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
    });
  const json = (value: unknown) => write('application/json', [JSON.stringify(value)]);
  if (path.endsWith('/chat/completions')) {
    if (!body.stream) return json(openAi(mayCall));
    return write('text/event-stream', sse([...openAiPieces(mayCall), '[DONE]']));
  }
  if (path.endsWith('/messages')) {
    if (!body.stream) return json(anthropicAnswer(mayCall));
    return write('text/event-stream', sse(anthropicPieces(mayCall), true));
  }
  if (path.endsWith('/images/generations')) return json(openAiImages);
  if (path.includes('/i-gemini:')) return json(geminiImages);
  if (path.includes(':generateContent')) return json(gemini(mayCall));
  if (path.includes(':streamGenerateContent')) {
    return write('text/event-stream', sse(geminiPieces(mayCall)));
  }
  const lines = ollamaLines(mayCall, body.stream);
  return write(
    'application/x-ndjson',
    lines.map((line) => `${JSON.stringify(line)}\n`),
  );
}

const openAiImages = {
  created: 1_700_000_000,
  data: [{ b64_json: 'cGljdHVyZQ==', revised_prompt: 'A cat.' }],
  usage: { input_tokens: 3, output_tokens: 272, total_tokens: 275 },
};

const geminiImages = {
  candidates: [
    {
      content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'cGljdHVyZQ==' } }] },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 272 },
};

function hasResult(body: unknown): boolean {
  return /"role":"tool"|tool_result|functionResponse/.test(JSON.stringify(body));
}

const openAiCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: JSON.stringify(callArguments) },
};

function openAi(isCall: boolean) {
  const message = isCall ? { content: null, tool_calls: [openAiCall] } : { content: text };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'up',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...message },
        logprobs: null,
        finish_reason: isCall ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 },
  };
}

function openAiPieces(isCall: boolean) {
  const head = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'up',
  };
  const piece = (delta: unknown, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const { id, type, function: call } = openAiCall;
  const start = { index: 0, id, type, function: { name: call.name, arguments: '' } };
  const pieces = isCall
    ? [
        piece({ tool_calls: [start] }),
        piece({ tool_calls: [{ index: 0, function: { arguments: call.arguments.slice(0, 5) } }] }),
        piece({ tool_calls: [{ index: 0, function: { arguments: call.arguments.slice(5) } }] }),
      ]
    : words.map((content) => piece({ content }));
  return [
    piece({ role: 'assistant', content: isCall ? null : '' }),
    ...pieces,
    piece({}, isCall ? 'tool_calls' : 'stop'),
    { ...head, choices: [], usage: openAi(isCall).usage },
  ];
}

const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'get_weather' };

function anthropicAnswer(isCall: boolean) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: isCall ? [{ ...toolUse, input: callArguments }] : [{ type: 'text', text }],
    stop_reason: isCall ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 20, output_tokens: 7 },
  };
}

function anthropicPieces(isCall: boolean) {
  const { content: _, stop_reason, ...message } = anthropicAnswer(isCall);
  const start = isCall ? { ...toolUse, input: {} } : { type: 'text', text: '' };
  const deltas = isCall
    ? [{ type: 'input_json_delta', partial_json: JSON.stringify(callArguments) }]
    : words.map((word) => ({ type: 'text_delta', text: word }));
  return [
    {
      type: 'message_start',
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { input_tokens: 20, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: 'message_stop' },
  ];
}

const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27 };

function gemini(isCall: boolean) {
  const call = {
    functionCall: { name: 'get_weather', args: callArguments },
    thoughtSignature: 'c2ln',
  };
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: isCall ? [call] : [{ text }] },
        finishReason: 'STOP',
      },
    ],
    usageMetadata,
    modelVersion: 'up',
    responseId: 'r1',
  };
}

function geminiPieces(isCall: boolean) {
  if (isCall) return [gemini(true)];
  return words.map((word, at) => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: word }] },
        ...(at === words.length - 1 ? { finishReason: 'STOP' } : {}),
      },
    ],
    usageMetadata,
    modelVersion: 'up',
    responseId: 'r1',
  }));
}

function ollamaLines(isCall: boolean, isStream: boolean) {
  const head = { model: 'up', created_at: '2026-01-01T00:00:00Z' };
  const calls = [{ function: { name: 'get_weather', arguments: callArguments } }];
  const end = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 7 };
  if (!isStream) {
    const message = isCall ? { content: '', tool_calls: calls } : { content: text };
    return [{ ...head, message: { role: 'assistant', ...message }, ...end }];
  }
  const pieces = isCall
    ? [{ content: '', tool_calls: calls }]
    : words.map((content) => ({ content }));
  return [
    ...pieces.map((piece) => ({ ...head, message: { role: 'assistant', ...piece }, done: false })),
    { ...head, message: { role: 'assistant', content: '' }, ...end },
  ];
}

// Nobody reads its advice on models that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

const question = 'How warm is it in Zürich?';

describe.each(dialectNames)('a provider that speaks %s answers', (dialect) => {
  const model = `m-${dialect}`;

  test("OpenAI's client, at once and as a stream", async () => {
    const messages = [{ role: 'user' as const, content: question }];
    const whole = await openai.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.message.content).toBe(text);
    expect(whole.usage).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 7,
      total_tokens: 27,
    });
    const running = openai.chat.completions.stream({
      model,
      messages,
      stream_options: { include_usage: true },
    });
    const streamed = await running.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(text);
    expect(streamed.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 7 });
  });

  test.each([false, true])("OpenAI's client with a tool (stream: %s)", async (stream) => {
    const tools = [
      { type: 'function' as const, function: { name: 'get_weather', parameters: schema } },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
    const ask = async () => {
      if (!stream) return openai.chat.completions.create({ model, messages, tools });
      return openai.chat.completions.stream({ model, messages, tools }).finalChatCompletion();
    };
    const first = (await ask()).choices[0];
    expect(first?.finish_reason).toBe('tool_calls');
    const call = first?.message.tool_calls?.[0];
    if (call?.type !== 'function') throw new Error('no call');
    expect(JSON.parse(call.function.arguments)).toEqual(callArguments);
    messages.push(first?.message as OpenAI.ChatCompletionMessageParam, {
      role: 'tool',
      tool_call_id: call.id,
      content: '21',
    });
    expect((await ask()).choices[0]?.message.content).toBe(text);
  });

  test("OpenAI's client with the Responses API, and a tool", async () => {
    const running = openai.responses.stream({ model, input: question });
    const types: string[] = [];
    for await (const event of running) types.push(event.type);
    expect((await running.finalResponse()).output_text).toBe(text);
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.completed');
    const tools = [
      { type: 'function' as const, name: 'get_weather', parameters: schema, strict: false },
    ];
    const first = await openai.responses.create({ model, input: question, tools });
    const call = first.output.find((item) => item.type === 'function_call');
    expect(JSON.parse(call?.arguments ?? '')).toEqual(callArguments);
    const second = await openai.responses.create({
      model,
      tools,
      input: [
        { role: 'user', content: question },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: call?.call_id ?? '', output: '21' },
      ],
    });
    expect(second.output_text).toBe(text);
    expect(second.usage).toMatchObject({ input_tokens: 20, output_tokens: 7, total_tokens: 27 });
  });

  test("Anthropic's client, at once and as a stream", async () => {
    const asked = {
      model,
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: question }],
    };
    const whole = await anthropic.messages.create(asked);
    expect(whole.content).toMatchObject([{ type: 'text', text }]);
    expect(whole.usage).toMatchObject({ input_tokens: 20, output_tokens: 7 });
    const streamed = await anthropic.messages.stream(asked).finalMessage();
    expect(streamed.content).toMatchObject([{ type: 'text', text }]);
    expect(streamed.stop_reason).toBe('end_turn');
    expect(streamed.usage.output_tokens).toBe(7);
  });

  test.each([false, true])("Anthropic's client with a tool (stream: %s)", async (stream) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
    const ask = () => {
      const asked = {
        model,
        max_tokens: 100,
        messages,
        tools: [{ name: 'get_weather', input_schema: schema }],
      };
      return stream
        ? anthropic.messages.stream(asked).finalMessage()
        : anthropic.messages.create(asked);
    };
    const first = await ask();
    expect(first.stop_reason).toBe('tool_use');
    const call = first.content.find((block) => block.type === 'tool_use');
    expect(call).toMatchObject({ name: 'get_weather', input: callArguments });
    messages.push(
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: '21' }],
      },
    );
    expect((await ask()).content).toMatchObject([{ type: 'text', text }]);
  });

  test.each(['openai', 'openai chat', 'anthropic'])(
    'the AI SDK with its %s provider',
    async (kind) => {
      const key = gateway.user;
      const baseURL = `${gateway.url}/v1`;
      const provider = createOpenAI({ apiKey: key, baseURL });
      const claude = createAnthropic({ authToken: key, baseURL });
      const models = {
        openai: provider(model),
        'openai chat': provider.chat(model),
        anthropic: claude(model),
      };
      const chosen = models[kind as keyof typeof models];
      const tools = {
        get_weather: tool({
          inputSchema: jsonSchema<{ city: string }>(schema),
          execute: ({ city }) => Promise.resolve(`21 in ${city}`),
        }),
      };
      const options = {
        model: chosen,
        prompt: question,
        tools,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      };
      const whole = await generateText(options);
      expect(whole.text).toBe(text);
      expect(whole.steps[0]?.toolCalls[0]?.input).toEqual(callArguments);
      const streamed = streamText(options);
      expect(await streamed.text).toBe(text);
      expect((await streamed.totalUsage).outputTokens).toBe(14);
    },
  );
});

describe('images', () => {
  test.each(['openai', 'gemini'])("OpenAI's client, of %s", async (dialect) => {
    const asked = { prompt: 'a cat', n: 1, size: '1024x1024' };
    const made = await openai.images.generate({ model: `i-${dialect}`, ...asked });
    expect(made.data?.[0]?.b64_json).toBe('cGljdHVyZQ==');
    expect(made.usage).toMatchObject({ input_tokens: 3, output_tokens: 272, total_tokens: 275 });
  });

  test.each(['anthropic', 'ollama'])("OpenAI's client is refused those of %s", async (dialect) => {
    const asking = openai.images.generate({ model: `i-${dialect}`, prompt: 'a cat' });
    await expect(asking).rejects.toMatchObject({
      status: 400,
      param: 'model',
      code: 'unsupported_capability',
    });
  });

  test('the AI SDK with its openai provider', async () => {
    const provider = createOpenAI({ apiKey: gateway.user, baseURL: `${gateway.url}/v1` });
    const { image } = await generateImage({
      model: provider.image('i-openai'),
      prompt: 'a cat',
      maxRetries: 0,
    });
    expect(image.base64).toBe('cGljdHVyZQ==');
  });
});

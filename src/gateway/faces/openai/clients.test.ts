import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../conversation/answer.ts';
import { readAnswer } from '../../dialects/openai/answer.ts';
import { fixtures } from '../../dialects/openai/fixtures.ts';
import { replayAnswer as replay } from '../../conversation/replay.ts';
import { answerOf } from '../../dialects/openai/testing.ts';
import { Fault } from '../../../kit/errors.ts';
import { openAiFace } from '../openai.ts';
import { serveFace } from '../testing.ts';

const answer: Answer = {
  id: 'msg_01',
  model: 'claude-sonnet-4',
  createdAt: 1_741_570_283,
  choices: [
    {
      index: 0,
      parts: [
        { type: 'reasoning', text: 'Look both up.', signature: 'EqoB' },
        { type: 'text', text: 'Let me see what the weather is like in both of the cities.' },
        { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city":"Łódź"}' },
        { type: 'tool-call', id: 'call_2', name: 'weather', arguments: '{"city":"Oslo"}' },
      ],
      finish: 'tool-calls',
    },
  ],
  usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 4, reasoningTokens: 5 },
};

const said = 'Let me see what the weather is like in both of the cities.';
const messages = [{ role: 'user' as const, content: 'Weather?' }];
const calls = [
  {
    id: 'call_1',
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Łódź"}' },
  },
  {
    id: 'call_2',
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Oslo"}' },
  },
];

function openClient(baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
}

function openModel(baseURL: string) {
  return createOpenAI({ baseURL, apiKey: 'none' }).chat('claude-sonnet-4');
}

const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
  }),
  execute: () => 'sunny',
});

describe("OpenAI's client", () => {
  it('gets a fault with its place', async () => {
    await using server = await serveFace(openAiFace, { answer });
    const create = openClient(server.url).chat.completions.create({
      model: 'm',
      messages,
      temperature: 9,
    });
    await expect(create).rejects.toMatchObject({
      status: 400,
      param: 'temperature',
      code: 'invalid_value',
      type: 'invalid_request_error',
    });
  });

  it('gets an error in a stream that breaks off, and never its end', async () => {
    await using server = await serveFace(openAiFace, { answer, brokenAfter: 3 });
    const stream = await openClient(server.url).chat.completions.create({
      model: 'm',
      messages,
      stream: true,
    });
    const read = async () => {
      for await (const chunk of stream) expect(chunk.choices[0]?.finish_reason ?? null).toBeNull();
    };
    await expect(read()).rejects.toMatchObject({ type: 'provider_error' });
  });

  it.each(['chatcmpl-01', 'chatcmpl_01'])('gets an id of this form as it came: %s', async (id) => {
    await using server = await serveFace(openAiFace, { answer: { ...answer, id } });
    const { chat } = openClient(server.url);
    expect(await chat.completions.create({ model: 'm', messages })).toMatchObject({ id });
  });

  it('gets a whole answer as OpenAI would write it', async () => {
    await using server = await serveFace(openAiFace, { answer });
    const completion = await openClient(server.url).chat.completions.create({
      model: 'm',
      messages,
    });
    expect(completion).toEqual({
      id: 'chatcmpl-msg_01',
      object: 'chat.completion',
      created: 1_741_570_283,
      model: 'claude-sonnet-4',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: said,
            refusal: null,
            reasoning_content: 'Look both up.',
            reasoning_details: [
              { type: 'reasoning.text', text: 'Look both up.', signature: 'EqoB' },
            ],
            tool_calls: calls,
            annotations: [],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: expect.objectContaining({
        prompt_tokens: 10,
        completion_tokens: 20,
        total_tokens: 30,
        prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      }),
    });
  });

  it('makes the same answer from a stream', async () => {
    await using server = await serveFace(openAiFace, { answer });
    const stream = openClient(server.url).chat.completions.stream({
      model: 'm',
      messages,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { role: 'assistant', content: said, tool_calls: calls },
    });
    expect(completion.usage?.total_tokens).toBe(30);
  });

  it('hands thoughts, proofs and calls back as they were', async () => {
    await using server = await serveFace(openAiFace, { answer });
    const client = openClient(server.url);
    const completion = await client.chat.completions.create({ model: 'm', messages });
    const message = completion.choices[0]?.message;
    const results = calls.map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: '3',
    }));
    await client.chat.completions.create({
      model: 'm',
      messages: [...messages, ...(message ? [message] : []), ...results],
    });
    expect(server.requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      parts: answer.choices[0]?.parts,
    });
  });
});

describe("the AI SDK's chat model", () => {
  it('gets text, calls and usage, whole and streamed', async () => {
    await using server = await serveFace(openAiFace, { answer });
    const options = { model: openModel(server.url), prompt: 'Weather?', tools: { weather } };
    const whole = await generateText(options);
    const streamed = streamText(options);
    for (const result of [
      whole,
      { text: await streamed.text, toolCalls: await streamed.toolCalls },
    ]) {
      expect(result.text).toBe(said);
      expect(result.toolCalls.map(({ input }) => input)).toEqual([
        { city: 'Łódź' },
        { city: 'Oslo' },
      ]);
    }
    expect(whole.usage.inputTokens).toBe(10);
    expect((await streamed.usage).outputTokens).toBe(20);
  });
});

describe('the bytes of a stream', () => {
  const open = (wantsUsage: boolean) =>
    openAiFace.openStream(
      openAiFace.read({ messages, stream: true, stream_options: { include_usage: wantsUsage } }),
    );
  const start = { type: 'start', id: 'chatcmpl-1', model: 'm', createdAt: 5 } as const;
  const usage = { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } } as const;

  it('hold usage only where the client wants it, and then in a chunk of its own', () => {
    for (const wantsUsage of [true, false]) {
      const stream = open(wantsUsage);
      const bytes = [
        start,
        { type: 'text', choice: 0, text: 'a' } as const,
        { type: 'finish', choice: 0, finish: 'stop' } as const,
        usage,
        { type: 'end' } as const,
      ].map((event) => stream.write(event));
      expect(bytes[0]).toBe('');
      const chunks = bytes.join('').split('\n\n');
      expect(chunks.at(-2)).toBe('data: [DONE]');
      expect(chunks.length).toBe(wantsUsage ? 6 : 5);
      expect(bytes.join('').includes('"usage"')).toBe(wantsUsage);
      expect(JSON.parse(chunks[0]?.slice(6) ?? '')).toMatchObject({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 5,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
      });
    }
  });

  it('say each role once, though a second start comes from where the answer went on', () => {
    const stream = open(false);
    const text = { type: 'text', choice: 0, text: 'a' } as const;
    const bytes = [start, text, { ...start, id: 'other' }, text].map((event) =>
      stream.write(event),
    );
    expect(bytes.join('').match(/"role"/g)).toHaveLength(1);
    expect(bytes.join('')).not.toContain('other');
  });

  it('end with the failure alone, without [DONE]', () => {
    expect(openAiFace.writeFailure(new Fault('upstream', 'broke off'))).toBe(
      'data: {"error":{"type":"provider_error","message":"broke off","param":null,"code":"upstream"}}\n\n',
    );
  });

  it.each(fixtures)('say again what a provider said: $provider', ({ answer: body }) => {
    const read = readAnswer(body);
    const unmarked = JSON.parse(JSON.stringify(read).replaceAll('openai:', '')) as Answer;
    const again = readAnswer(openAiFace.writeAnswer(unmarked, openAiFace.read({ messages })));
    expect(again.choices).toEqual(read.choices);
    expect(again.usage).toMatchObject(read.usage);
    const stream = open(true);
    const bytes = replay(unmarked).map((event) => stream.write(event));
    expect(answerOf(bytes.join('')).choices).toEqual(read.choices);
  });
});

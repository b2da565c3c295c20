import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../conversation/answer.ts';
import { responsesFace } from '../responses.ts';
import { serveFace } from '../testing.ts';

const said = 'Let me see what the weather is like in both of the cities, one by one.';
const usage = { inputTokens: 10, outputTokens: 20, cachedInputTokens: 4, reasoningTokens: 5 };

const answer: Answer = {
  id: 'chatcmpl-01',
  model: 'gemini-2.5-pro',
  createdAt: 1_741_570_283,
  choices: [
    {
      index: 0,
      parts: [
        { type: 'reasoning', text: 'Look both up.', signature: 'EqoB' },
        { type: 'reasoning', text: '', redacted: 'c2VjcmV0' },
        { type: 'text', text: said },
        {
          type: 'tool-call',
          id: 'call_1',
          name: 'weather',
          arguments: '{"city":"Łódź"}',
          signature: 'gemini:CpcC',
        },
        { type: 'tool-call', id: 'call_2', name: 'weather', arguments: '{}' },
      ],
      finish: 'tool-calls',
    },
  ],
  usage,
};

function plain(text: string, finish: 'stop' | 'length' = 'stop'): Answer {
  return { ...answer, choices: [{ index: 0, parts: [{ type: 'text', text }], finish }] };
}

const refusal: Answer = {
  ...answer,
  choices: [{ index: 0, parts: [{ type: 'refusal', text: 'No.' }], finish: 'content-filter' }],
};

function openClient(baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
}

/** Everything that does not tell a streamed response from a whole one. */
function outputOf(response: OpenAI.Responses.Response) {
  const { id, object, status, output, usage: took, output_text: text } = response;
  // What the client adds of its own to streams.
  const own = new Set(['parsed', 'parsed_arguments']);
  const told = JSON.stringify(output, (name, value: unknown) =>
    own.has(name) ? undefined : value,
  );
  return { id, object, status, output: JSON.parse(told) as unknown, took, text };
}

describe("OpenAI's client", () => {
  it('gets a fault with its place', async () => {
    await using server = await serveFace(responsesFace, { answer });
    const { responses } = openClient(server.url);
    await expect(
      responses.create({ model: 'm', input: 'Hi', previous_response_id: 'resp_1' }),
    ).rejects.toMatchObject({ status: 400, param: 'previous_response_id' });
  });

  it.each(['chatcmpl-01', 'chatcmpl_01', 'msg_01', 'resp_01', '01'])(
    'gets an id of the form of responses, made of that of the answer: %s',
    async (id) => {
      await using server = await serveFace(responsesFace, { answer: { ...answer, id } });
      const { responses } = openClient(server.url);
      const response = await responses.create({ model: 'm', input: 'Hi' });
      expect(response.id).toBe('resp_01');
    },
  );

  it('gets an error in a stream that breaks off, and never its completion', async () => {
    await using server = await serveFace(responsesFace, { answer, brokenAfter: 4 });
    const stream = openClient(server.url).responses.stream({ model: 'm', input: 'Hi' });
    const seen: string[] = [];
    stream.on('event', ({ type }) => seen.push(type));
    await expect(stream.finalResponse()).rejects.toMatchObject({ code: 'upstream' });
    expect(seen).toContain('response.created');
    expect(seen).not.toContain('response.completed');
  });

  it('gets a whole response as OpenAI would write it', async () => {
    await using server = await serveFace(responsesFace, { answer });
    const response = await openClient(server.url).responses.create({
      model: 'm',
      input: 'Weather?',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
    });
    expect(response).toMatchObject({
      id: 'resp_01',
      object: 'response',
      created_at: 1_741_570_283,
      status: 'completed',
      model: 'gemini-2.5-pro',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      store: false,
      incomplete_details: null,
      error: null,
      output_text: said,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 30,
      },
    });
    expect(response.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'reasoning',
      'function_call',
      'function_call',
    ]);
    expect(response.output[4]).toEqual({
      type: 'function_call',
      id: 'fc_01_4',
      status: 'completed',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Łódź"}',
    });
  });

  it.each([
    ['with thoughts, text and calls', answer, 'completed'],
    ['of text', plain('One two'), 'completed'],
    ['that was cut off by its limit', plain('One', 'length'), 'incomplete'],
    ['that was refused', refusal, 'incomplete'],
    ['of nothing', plain(''), 'completed'],
  ])('makes the same response from a stream: one %s', async (_, served, status) => {
    await using server = await serveFace(responsesFace, { answer: served });
    const { responses } = openClient(server.url);
    const whole = await responses.create({ model: 'm', input: 'Hi' });
    const streamed = await responses.stream({ model: 'm', input: 'Hi' }).finalResponse();
    expect(outputOf(streamed)).toEqual(outputOf(whole));
    expect(whole.status).toBe(status);
  });

  it('sees every event in its order, numbered without a gap', async () => {
    await using server = await serveFace(responsesFace, { answer });
    const stream = openClient(server.url).responses.stream({ model: 'm', input: 'Hi' });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const types = events.map(({ type }) => type.replace('response.', ''));
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('hands thoughts, proofs and calls back as they were', async () => {
    await using server = await serveFace(responsesFace, { answer });
    const { responses } = openClient(server.url);
    const { output } = await responses.create({ model: 'm', input: 'Hi' });
    await responses.create({
      model: 'm',
      // What it wrote is what it reads: the types differ in fields that are never set here.
      input: [
        { role: 'user', content: 'Hi' },
        ...(output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: 'call_1', output: '3' },
        { type: 'function_call_output', call_id: 'call_2', output: '4' },
      ],
    });
    expect(server.requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      parts: answer.choices[0]?.parts,
    });
  });
});

describe("the AI SDK's default model", () => {
  const open = (baseURL: string) => createOpenAI({ baseURL, apiKey: 'none' })('gemini-2.5-pro');
  const weather = tool({
    inputSchema: jsonSchema<{ city?: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
    }),
    execute: () => 'sunny',
  });

  it('gets text, thoughts, calls and usage, whole and streamed', async () => {
    await using server = await serveFace(responsesFace, { answer });
    const options = { model: open(server.url), prompt: 'Weather?', tools: { weather } };
    const whole = await generateText(options);
    const streamed = streamText(options);
    const results = [
      whole,
      {
        text: await streamed.text,
        reasoningText: await streamed.reasoningText,
        toolCalls: await streamed.toolCalls,
      },
    ];
    for (const result of results) {
      expect(result.text).toBe(said);
      expect(result.reasoningText).toContain('Look both up.');
      expect(result.toolCalls.map(({ input }) => input)).toEqual([{ city: 'Łódź' }, {}]);
    }
    expect(whole.usage.inputTokens).toBe(10);
    expect((await streamed.usage).outputTokens).toBe(20);
  });

  it('goes on after its tools ran, with all that the model thought', async () => {
    await using server = await serveFace(responsesFace, { answer });
    await generateText({
      model: open(server.url),
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: stepCountIs(2),
      providerOptions: { openai: { store: false } },
    });
    const [user, assistant, ...results] = server.requests[1]?.messages ?? [];
    expect(user?.role).toBe('user');
    expect(assistant).toEqual({ role: 'assistant', parts: answer.choices[0]?.parts });
    expect(results.map(({ role }) => role)).toEqual(['tool', 'tool']);
  });

  it('sees a stream that breaks off as an error', async () => {
    await using server = await serveFace(responsesFace, { answer, brokenAfter: 4 });
    const errors: unknown[] = [];
    const { finishReason } = streamText({
      model: open(server.url),
      prompt: 'Weather?',
      maxRetries: 0,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    expect(await finishReason.then(String, () => 'error')).toBe('error');
    expect(JSON.stringify(errors)).toContain('it broke off');
  });
});

import Anthropic, { NotFoundError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  startGateway,
  startProvider,
  type Script,
  type ScriptedProvider,
} from '../../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let client: Anthropic;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
  for (const dialect of ['openai', 'anthropic']) {
    const models = [{ name: 'm', capabilities: ['chat', 'tools'] }];
    await gateway.put(`up-${dialect}`, { dialect, baseUrl: `${upstream.url}/v1`, models });
  }
  client = new Anthropic({ baseURL: gateway.url, authToken: gateway.user, maxRetries: 0 });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** What Anthropic's own runner of tools comes to, with one tool. */
function runTools(model: string) {
  return client.beta.messages.toolRunner({
    model,
    max_tokens: 3000,
    max_iterations: 4,
    messages: [{ role: 'user', content: 'The weather?' }],
    tools: [
      {
        name: 'weather',
        input_schema: { type: 'object' },
        run: () => 'rain',
        parse: (input: unknown) => input,
      },
    ],
  });
}

test('the runner goes on without a thread where the provider has no word for one', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  upstream.script(json(openAiAnswer('', { choices })), json(openAiAnswer('Rain.')));
  const { content } = await runTools('up-openai/m');
  expect(content).toMatchObject([{ type: 'text', text: 'Rain.' }]);
});

test('answers and refusals have the id of their request where the client looks for it', async () => {
  upstream.script(json(openAiAnswer('Rain.')));
  const messages = [{ role: 'user' as const, content: 'The weather?' }];
  const asked = { model: 'up-openai/m', max_tokens: 9, messages };
  const { _request_id: id } = await client.messages.create(asked);
  expect(id).toMatch(/\w/);
  const refused = client.messages.create({ ...asked, model: 'up-openai/other' });
  await expect(refused).rejects.toMatchObject({
    requestID: expect.stringMatching(/\w/) as unknown,
  });
});

test('it starts a new thread where the provider has lost the old one', async () => {
  const answered = (content: object): Script =>
    json({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [content],
      stop_reason: 'type' in content && content.type === 'text' ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  upstream.script(
    answered({ type: 'tool_use', id: 't1', name: 'weather', input: {} }),
    lost,
    answered({ type: 'text', text: 'Rain.' }),
  );
  const before = upstream.received.length;
  const { content } = await runTools('up-anthropic/m');
  expect(content).toMatchObject([{ type: 'text', text: 'Rain.' }]);
  expect(upstream.received.slice(before).map(({ body }) => body.thread.type)).toEqual([
    'create',
    'continue',
    'create',
  ]);
});

const lost = json(
  {
    type: 'error',
    error: {
      type: 'not_found_error',
      message: 'no such thread',
      details: { error_code: 'thread_not_found' },
    },
  },
  404,
);

test('what the provider does not find is told as it said it, and is not the model', async () => {
  upstream.script(lost);
  const asked = client.messages.create({
    model: 'up-anthropic/m',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hi' }],
  });
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({
    status: 404,
    error: {
      error: {
        type: 'not_found_error',
        message: 'no such thread',
        details: { error_code: 'thread_not_found' },
      },
    },
  });
});

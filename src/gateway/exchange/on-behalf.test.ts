import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBehalfOf } from '../../kit/identity/asker.ts';
import {
  json,
  openAiAnswer,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type Script,
  type ScriptedProvider,
} from '../testing.ts';

let local: ScriptedProvider;
let hosted: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const answer: Script = (received, response) => {
  if (received.body.stream) return stream(openAiStream(['well']))(received, response);
  const data = [{ object: 'embedding', index: 0, embedding: [0.5, -1] }];
  const fields = received.path.endsWith('/embeddings') ? { data } : {};
  return json(openAiAnswer('well', fields))(received, response);
};

beforeAll(async () => {
  [local, hosted] = await Promise.all([startProvider(answer), startProvider(answer)]);
  gateway = await startGateway({ local: { url: local.url, models: ['near'] } });
  const models = [{ name: 'far', capabilities: ['chat', 'embedding'] }];
  await gateway.put('hosted', { dialect: 'openai', baseUrl: `${hosted.url}/v1`, models });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await local[Symbol.asyncDispose]();
  await hosted[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];

test.each([
  ['/v1/chat/completions', { messages }],
  ['/v1/chat/completions', { messages, stream: true }],
  ['/v1/messages', { messages, max_tokens: 9 }],
  ['/v1/embeddings', { input: 'hi' }],
])('only the own runtime hears who asks: %s %j', async (path, body) => {
  for (const [provider, model] of [
    [hosted, 'far'],
    [local, 'near'],
  ] as const) {
    provider.received.length = 0;
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        // What a caller says of it is not passed on.
        ...onBehalfOf('usr_other'),
        authorization: `Bearer ${gateway.user}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model, ...body }),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  expect(local.received).toMatchObject([{ headers: onBehalfOf('usr_one') }]);
  expect(hosted.received).toHaveLength(1);
  const told = JSON.stringify(hosted.received[0]);
  for (const name of Object.keys(onBehalfOf(''))) expect(told).not.toContain(name);
  expect(told).not.toContain('usr_one');
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { onBehalfOf } from '../../kit/identity/asker.ts';
import { startDialects } from '../dialects-testing.ts';
import { describeModel, ScriptedInference } from './testing.ts';

const embedding = { capabilities: ['embedding'], embeddingDimensions: 4 } as const;
const inference = new ScriptedInference([
  describeModel('tiny'),
  describeModel('ennead-embed', embedding),
]);

let service: Awaited<ReturnType<typeof startDialects>>;
beforeAll(async () => {
  service = await startDialects(inference);
});
afterAll(() => service[Symbol.asyncDispose]());
beforeEach(() => {
  inference.caller = undefined;
});

const messages = [{ role: 'user', content: 'Hello' }];
const questions = {
  '/v1/chat/completions': { messages },
  '/v1/completions': { prompt: 'Hello' },
  '/v1/embeddings': { input: 'Hello' },
  '/api/chat': { model: 'tiny', messages, stream: false },
  '/api/generate': { model: 'tiny', prompt: 'Hello', stream: false },
  '/api/embed': { model: 'ennead-embed', input: 'Hello' },
};

/** Who counts as asking. */
async function askerAt(path: string, token: string, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(questions[path as keyof typeof questions]),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return inference.caller?.subject;
}

test.each(Object.keys(questions))('nobody asks %s in the name of somebody else', async (path) => {
  expect(await askerAt(path, service.token, onBehalfOf('usr_other'))).toBe('usr_test');
});

test.each(Object.keys(questions))('but a service of the suite says who asks %s', async (path) => {
  const odd = 'Zoë: a\nb';
  expect(await askerAt(path, service.peerToken, onBehalfOf(odd))).toBe(odd);
  expect(await askerAt(path, service.peerToken, onBehalfOf('usr_one'))).toBe('usr_one');
  expect(await askerAt(path, service.peerToken, {})).toBe('gateway');
  expect(await askerAt(path, service.peerToken, onBehalfOf(''))).toBe('gateway');
});

import { expect, test } from 'vitest';
import { json, openAiStream, startGateway, startProvider, stream } from '../gateway/testing.ts';
import { openChatGround, startChat } from './testing.ts';

const ask = (content: string) => [{ role: 'user', content }];

test('behind the real gateway answers cost what it says, and refusals keep its words', async () => {
  await using ground = await openChatGround();
  await using provider = await startProvider(stream(openAiStream(['Hello', ' there'])));
  await using real = await startGateway({ issuer: ground.issuer });
  await real.put('scripted', {
    dialect: 'openai',
    baseUrl: `${provider.url}/v1`,
    apiKey: 'key',
    models: [{ name: 'm', inputCostPerMToken: 1, outputCostPerMToken: 2 }],
  });
  await using chat = await startChat({ ground, peers: { gateway: real.url } });
  const call = await chat.callAs('usr_carl');
  const { body: conversation } = await call('POST', '/api/conversations', {
    body: { model: 'scripted/m' },
  });
  const body = { conversation_id: conversation.id, messages: ask('Hi') };
  const answer = await call('POST', '/api/chat/stream', { body });
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  expect(answer.text).toMatch(/Hello.* there/s);
  expect(answer.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  const { body: kept } = await call('GET', `/api/conversations/${conversation.id}`);
  expect(kept.messages[1]).toMatchObject({ content: 'Hello there', usage: { total_tokens: 12 } });
  expect(kept.cost).toBeCloseTo((10 * 1 + 2 * 2) / 1e6, 10);
  const unknown = await call('POST', '/api/chat/completions', {
    body: { model: 'scripted/none', messages: ask('Hi') },
  });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'MODEL_NOT_FOUND']);
  await using broken = await startProvider(json({ error: { message: 'no' } }, 500));
  await real.put('broken', {
    dialect: 'openai',
    baseUrl: `${broken.url}/v1`,
    models: [{ name: 'b' }],
  });
  const failed = await call('POST', '/api/chat/completions', {
    body: { model: 'broken/b', messages: ask('Hi') },
  });
  expect([failed.status, failed.body.success]).toEqual([503, false]);
});

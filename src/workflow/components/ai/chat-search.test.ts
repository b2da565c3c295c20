import { afterAll, beforeAll, expect, test } from 'vitest';
import { chatContract } from '../../../chat/contract.ts';
import { startChat, type RunningChat } from '../../../chat/testing.ts';
import { createClient } from '../../../kit/client.ts';
import { Tracer } from '../../../kit/trace/trace.ts';
import { workflow } from '../../service.ts';
import { runComponent } from '../cms/testing.ts';
import { createChatSearch } from './chat-search.ts';
import { createVectorSearch } from './vector-search.ts';

let chat: RunningChat;

beforeAll(async () => {
  chat = await startChat();
});
afterAll(() => chat[Symbol.asyncDispose]());

async function remember(subject: string, content: string): Promise<string> {
  const call = await chat.callAs(subject);
  const messages = [{ role: 'user', content }];
  const { status, body } = await call('POST', '/api/conversations', { body: { messages } });
  expect(status).toBe(201);
  return body.id;
}

/** What a flow of somebody finds in the chats. */
async function find(ownerId: string, data: Readonly<Record<string, unknown>>) {
  const client = createClient(chatContract, {
    baseUrl: chat.url,
    token: () => chat.tokenOf('svc_workflow', workflow.grants),
    tracer: new Tracer(() => {}),
  });
  const component = createVectorSearch({
    collections: { search: () => Promise.reject(new Error('no collection was asked for')) },
    searchConversations: createChatSearch(client),
  });
  const { output } = await runComponent([component], {
    name: 'VectorSearch',
    data: { collection: 'conversations', ...data },
    context: { ownerId },
  });
  return output;
}

test('an execution finds in the chats what its owner wrote, and nobody else', async () => {
  const own = await remember('usr_ada', 'the heron nests in the old willow');
  await remember('usr_bob', 'a heron stands in the water');
  const query = 'heron';
  expect(await find('usr_ada', { query, minScore: -1 })).toMatchObject({
    count: 1,
    results: [
      {
        content: 'the heron nests in the old willow',
        metadata: { role: 'user', conversation_id: own },
      },
    ],
  });
  expect(await find('usr_ada', { query, filter: { role: 'user' } })).toMatchObject({ count: 1 });
  const none = { results: [], count: 0 };
  expect(await find('usr_ada', { query, filter: { role: 'assistant' } })).toEqual(none);
  expect(await find('usr_nobody', { query })).toEqual(none);
});

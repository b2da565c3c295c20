import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import { startMesh } from '../client/testing.ts';
import { startAssistant, type AssistantOptions } from './assistant.ts';

type Completions = AssistantOptions['gateway']['completions'];

let mesh: Awaited<ReturnType<typeof startMesh>>;
let assistant: AsyncDisposable;
let answer: Completions;
const asked: Parameters<Completions>[0]['body'][] = [];

beforeAll(async () => {
  mesh = await startMesh();
  assistant = startAssistant({
    meshUrl: mesh.url,
    token: () => mesh.tokenOf('svc_mesh'),
    gateway: {
      completions: (input, options) => {
        asked.push(input.body);
        return answer(input, options);
      },
    },
    local: mesh.local,
    tracer: mesh.tracer,
    version: '1.0.0',
    log: silentLog,
  });
});
afterAll(async () => {
  await assistant?.[Symbol.asyncDispose]();
  await mesh?.[Symbol.asyncDispose]();
});

const run = (capability: string, input: Record<string, unknown>) =>
  mesh.tasks.run({ capability }, { type: capability, input, timeoutMs: 5_000, priority: 'normal' });

test('the assistant joins by itself', async () => {
  await expect.poll(() => mesh.registry.directory.find('assistant-1')?.status).toBe('active');
});

test('a task without a prompt and a gateway that fails are the assistant’s failures', async () => {
  await expect(run('chat', {})).rejects.toMatchObject({ code: 'upstream' });
  answer = () => Promise.reject(new Fault('unavailable', 'no provider answers'));
  await expect(run('chat', { prompt: 'hi' })).rejects.toMatchObject({
    code: 'upstream',
    message: expect.stringContaining('no provider answers') as string,
    detail: { agentId: 'assistant-1' },
  });
});

test('the assistant chats, summarizes and writes code through the gateway', async () => {
  answer = async () => ({
    id: 'c1',
    object: 'chat.completion',
    created: 0,
    model: 'local/small',
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
    ],
  });
  asked.length = 0;
  const chat = await run('chat', { prompt: 'hi', context: { user: 'Ada' } });
  expect(chat).toMatchObject({ executedBy: 'assistant-1', result: { text: 'Hello' } });
  await run('summarization', { prompt: 'a long text' });
  await run('code-generation', { prompt: 'fizzbuzz', model: 'local/coder' });
  expect(asked.map(({ model }) => model)).toEqual(['auto-route', 'auto-route', 'local/coder']);
  expect(asked[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(asked[0]?.messages[0]?.content).toContain('"user":"Ada"');
  expect(asked[1]?.messages[0]?.content).toContain('summarize');
});

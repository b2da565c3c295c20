import { expect, test } from 'vitest';
import { describeModel, ScriptedInference, scriptedEnd } from '../inference/testing.ts';
import { toMcpResult } from './mcp.ts';
import { findTool } from './tool-table.ts';

function scripted(text: string) {
  const inference = new ScriptedInference([describeModel('scripted')]);
  inference.events = [{ type: 'text', text }, scriptedEnd];
  const caller = { subject: 'usr_test', signal: new AbortController().signal };
  const run = (tool: string, input: object) =>
    findTool(tool).run(input, { inference, caller, report: () => {} });
  return { inference, run };
}

const labels = ['praise', 'complaint'];

test.each(['joy', '"joy"', '{"label":"joy"}', '{"label":7}', ''])(
  'a runtime that does not keep to the labels is an upstream fault: %s',
  async (text) => {
    const { run } = scripted(text);
    await expect(run('classify', { prompt: 'I like it.', labels })).rejects.toMatchObject({
      code: 'upstream',
    });
  },
);

test('an external runtime is asked for an object with the label', async () => {
  const { inference, run } = scripted('{"label":"praise"}');
  expect(await run('classify', { prompt: 'I like it.', labels })).toMatchObject({
    output: 'praise',
    model: 'scripted',
  });
  expect(inference.requests[0]).toMatchObject({
    temperature: 0,
    format: { schema: { type: 'object', properties: { label: { enum: labels } } } },
  });
});

test('a summary that goes on too long is cut after its last word, and says so', async () => {
  const { inference, run } = scripted('  One two\nthree, four; five. Six seven.');
  expect(await run('summarize', { prompt: 'A story.', maxWords: 5 })).toMatchObject({
    output: 'One two\nthree, four; five.',
    finishReason: 'length',
  });
  expect(inference.requests[0]?.maxTokens).toBeGreaterThanOrEqual(5);
});

test('a chat takes a prompt in place of messages, or after them, and needs one of both', async () => {
  const { inference, run } = scripted('Hello.');
  const system = { role: 'system', content: 'Be kind.' } as const;
  const user = { role: 'user', content: 'Hi' } as const;
  expect(await run('chat', { prompt: 'Hi' })).toMatchObject({ output: 'Hello.' });
  await run('chat', { prompt: 'Hi', messages: [system] });
  expect(inference.requests.map(({ prompt }) => prompt)).toEqual([
    { messages: [user] },
    { messages: [system, user] },
  ]);
  for (const input of [{}, { messages: [] }]) {
    await expect(run('chat', input)).rejects.toMatchObject({
      code: 'invalid',
      detail: { param: 'input.messages' },
    });
  }
});

test('the text of an MCP answer tells what the model calls', () => {
  const toolCalls = [{ id: 'call_1', name: 'weather', arguments: { city: 'Bern' } }];
  const answer = { model: 'tiny', toolCalls };
  const calls = { type: 'text', text: JSON.stringify({ toolCalls }) };
  const look = { type: 'text', text: 'I look.' };
  expect(toMcpResult({ ...answer, output: '' }).content).toEqual([calls]);
  expect(toMcpResult({ ...answer, output: 'I look.' }).content).toEqual([look, calls]);
  expect(toMcpResult({ model: 'tiny', toolCalls: [], output: '' }).content).toEqual([
    { type: 'text', text: '' },
  ]);
});

test('a field that a tool does not know is not heeded', async () => {
  const { run } = scripted('Hello.');
  expect(await run('list_models', { prompt: 'Hi' })).toMatchObject({ model: 'scripted' });
});

test('a summary that is short enough is whole', async () => {
  const { run } = scripted('One two three.');
  expect(await run('summarize', { prompt: 'A story.', maxWords: 5 })).toMatchObject({
    output: 'One two three.',
    finishReason: 'stop',
  });
});

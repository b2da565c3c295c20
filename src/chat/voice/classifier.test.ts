import { expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import type { CallerClients } from '../caller-clients.ts';
import { GatewayClassifier } from './classifier.ts';
import { aCaller } from './testing.ts';

const speaker = aCaller('usr_one');

function classifierThatHears(content: string | Fault) {
  const asked: { readonly body: Record<string, unknown>; readonly credential: string }[] = [];
  const clients = (_contract: unknown, { credential }: { readonly credential: string }) => ({
    openAiCompletions: async ({ body }: { readonly body: Record<string, unknown> }) => {
      asked.push({ body, credential });
      if (content instanceof Fault) throw content;
      return { choices: [{ message: { role: 'assistant', content } }] };
    },
  });
  // Only what is asked of the gateway.
  const options = { clients: clients as never as CallerClients, model: 'small' };
  return { classifier: new GatewayClassifier(options), asked };
}

function answer(fields: object): string {
  return JSON.stringify({ action: 'question', name: '', text: '', confidence: 0.95, ...fields });
}

async function hear(said: string, fields: object) {
  return classifierThatHears(answer(fields)).classifier.classify(speaker, said);
}

test('the model is asked as the caller, for one JSON object of the known actions', async () => {
  const { classifier, asked } = classifierThatHears(answer({}));
  await classifier.classify(speaker, 'wie geht es');
  expect(asked).toMatchObject([
    {
      credential: 'token-of-usr_one',
      body: {
        model: 'small',
        temperature: 0,
        messages: [{ role: 'system' }, { role: 'user', content: 'wie geht es' }],
        response_format: { type: 'json_schema', json_schema: { strict: true } },
      },
    },
  ]);
});

test.each([
  ['Lösche Einkauf', { action: 'delete_conversation', name: 'Einkauf' }],
  ['mach den Chat Einkauf auf', { action: 'open_conversation', name: 'einkauf' }],
  ['welche Agenten gibt es', { action: 'list_agents' }],
])('%s is understood', async (said, fields) => {
  expect(await hear(said, fields)).toEqual(fields);
});

test('a name and a text become what the action takes', async () => {
  const said = 'Assistant one soll den Tag zusammenfassen, und Milch heisst jetzt Tee';
  const task = 'den Tag zusammenfassen';
  expect(await hear(said, { action: 'ask_agent', name: 'assistant-1', text: task })).toEqual({
    action: 'ask_agent',
    name: 'assistant-1',
    task,
  });
  const renaming = { action: 'rename_conversation', name: 'Milch', text: 'Tee' };
  expect(await hear(said, renaming)).toEqual({
    action: 'rename_conversation',
    name: 'Milch',
    title: 'Tee',
  });
  expect(await hear(said, { action: 'search_conversations', text: 'Milch' })).toEqual({
    action: 'search_conversations',
    query: 'Milch',
  });
});

test.each([
  ['a question', { action: 'question' }],
  ['what it is not sure of', { action: 'stop', confidence: 0.5 }],
  ['an action without a confidence', { action: 'stop', confidence: 'high' }],
  ['an action that nobody knows', { action: 'format_disk' }],
  ['an action of every object', { action: 'constructor' }],
  ['a name that nobody said', { action: 'delete_conversation', name: 'Payroll' }],
  ['a task that nobody set', { action: 'ask_agent', name: 'me', text: 'send all files' }],
  ['an action without what it is done to', { action: 'open_conversation' }],
  ['a task for nobody', { action: 'ask_agent', text: 'talk' }],
  ['a search for nothing', { action: 'search_conversations' }],
])('%s is no command', async (_what, fields) => {
  expect(await hear('please talk to me', fields)).toBeUndefined();
});

test.each(['', 'I think it is {stop}', '[]', '{"action":', 'null'])(
  'an answer that is no object (%s) is no command',
  async (content) => {
    const { classifier } = classifierThatHears(content);
    expect(await classifier.classify(speaker, 'stop')).toBeUndefined();
  },
);

test('an object within other words is read', async () => {
  const { classifier } = classifierThatHears(`Sure:\n${answer({ action: 'stop' })}\nDone.`);
  expect(await classifier.classify(speaker, 'aufhören')).toEqual({ action: 'stop' });
});

test('long texts are not sent, and a gateway that refuses is told', async () => {
  const { classifier, asked } = classifierThatHears(new Fault('unavailable', 'away'));
  expect(await classifier.classify(speaker, 'x'.repeat(501))).toBeUndefined();
  expect(asked).toEqual([]);
  await expect(classifier.classify(speaker, 'x')).rejects.toMatchObject({ code: 'unavailable' });
});

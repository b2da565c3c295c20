import { expect, test } from 'vitest';
import type { Message } from '../conversation/request.ts';
import { writeContents } from './gemini/contents.ts';
import { traitsOf } from './gemini/models.ts';
import { writeMessages } from './ollama/messages.ts';
import { chatOf } from './testing.ts';

/** A turn that calls tools by these names, all with the same id, and their results. */
function turn(...names: string[]): Message[] {
  const id = 'call_0';
  return [
    {
      role: 'assistant',
      parts: names.map((name) => ({ type: 'tool-call', id, name, arguments: '{}' })),
    },
    ...names.map((name): Message => {
      const content = [{ type: 'text', text: `of ${name}` }] as const;
      return { role: 'tool', parts: [{ type: 'tool-result', callId: id, content }] };
    }),
  ];
}

const answered = ['weather', 'time', 'weather', 'date'];
const messages = [...turn('weather', 'time'), ...turn('weather'), ...turn('date')];

test('results say the names of their calls though calls share an id, in a turn or over turns: Ollama', () => {
  const results = writeMessages(messages).filter(({ role }) => role === 'tool');
  expect(results.map(({ tool_name: name }) => name)).toEqual(answered);
  expect(results.map(({ content }) => content)).toEqual(answered.map((name) => `of ${name}`));
});

test('results say the names of their calls though calls share an id, in a turn or over turns: Gemini', () => {
  const contents = writeContents(chatOf({ messages }), traitsOf('gemini-2.5-pro'));
  const results = contents.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse: result }) => (result ? [result] : [])),
  );
  expect(results).toMatchObject(answered.map((name) => ({ name })));
});

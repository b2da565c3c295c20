import { expect, test } from 'vitest';
import { collectAnswer } from '../../conversation/collect.ts';
import { openAiDialect } from '../../dialects/openai.ts';
import { chatOf, readAll } from '../../dialects/testing.ts';
import { responsesFace } from '../responses.ts';

const url = 'https://example.org/a';
const place = { url, title: 'A', start_index: 0, end_index: 2 };
const annotations = [{ type: 'url_citation', url_citation: place }];
const said = { content: [{ text: 'So', annotations: [{ type: 'url_citation', ...place }] }] };

function answerWith(message: object) {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }];
  return openAiDialect.readAnswer({ id: 'a', model: 'm', created: 1, choices });
}

test('citations of the web are in a response as OpenAI puts them', () => {
  const answer = answerWith({ content: 'So', annotations });
  expect(responsesFace.writeAnswer(answer, chatOf())).toMatchObject({ output: [said] });
  expect(answerWith({ content: 'So', annotations: [] }).choices[0]?.parts).toEqual([
    { type: 'text', text: 'So' },
  ]);
});

test('citations of the web are in a streamed response too', () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'a',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const events = readAll(openAiDialect.openReader(), [
    chunk({ content: 'So' }),
    chunk({ annotations }),
    chunk({}, 'stop'),
    '[DONE]',
  ]);
  const stream = responsesFace.openStream(chatOf({ isStream: true }));
  const text = events.map((event) => stream.write(event)).join('');
  expect(text).toContain('event: response.output_text.annotation.added');
  const last: unknown = JSON.parse(text.slice(text.lastIndexOf('data: ') + 6));
  expect(last).toMatchObject({ response: { output: [said] } });
  expect(responsesFace.writeAnswer(collectAnswer(events), chatOf())).toMatchObject({
    output: [said],
  });
});

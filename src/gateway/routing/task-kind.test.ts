import { expect, test } from 'vitest';
import { findTaskKind } from './task-kind.ts';
import { fakeRequest } from './testing.ts';

const article = 'The harbour was quiet that morning and nothing moved on the water. '.repeat(90);

const cases: readonly (readonly [string, string])[] = [
  ['Hello, how are you?', 'chat'],
  ['What is the capital of France?', 'chat'],
  ['Write a poem about the sea in summer', 'chat'],
  ['I have a problem with my neighbour, what should I write to him?', 'chat'],
  ['Which countries border Austria, and since when?', 'chat'],
  ['Erzähl mir einen Witz über Hunde', 'chat'],
  ['What class of ship was the Titanic?', 'chat'],
  ['Explain photosynthesis to a child', 'chat'],
  ['Help me with my resume for a job as a nurse', 'chat'],
  [article, 'chat'],
  ['Write a Python function that reverses a list', 'code'],
  ['Fix this: ```js\nlet a = ;\n```', 'code'],
  ['Why does src/kit/config.ts not compile?', 'code'],
  ['Schreibe ein Skript, das Dateien umbenennt', 'code'],
  ['Implementa una función que ordene números', 'code'],
  ['TypeError: x is not a function\n    at main (/app/a.js:3:9)', 'code'],
  ['def area(r):\n    return 3 * r\nis this right?', 'code'],
  ['SELECT name FROM users WHERE id = 3', 'code'],
  ['写一个函数来计算平均值', 'code'],
  ['Summarize this article in three sentences', 'summarization'],
  ['Write a function of society essay', 'chat'],
  ['Review the code of conduct for our choir', 'chat'],
  ['Write a function of two arguments that adds them', 'code'],
  ['Bitte fass den Text kurz zusammen', 'summarization'],
  ['Résumé du texte suivant, s’il te plaît', 'summarization'],
  ['Haz un resumen de este texto', 'summarization'],
  ['Резюмируй, кратко, этот текст', 'summarization'],
  ['请总结以下内容', 'summarization'],
  ['この記事を要約してください', 'summarization'],
  [`tl;dr?\n${article}`, 'summarization'],
  [`${article}\nWhat is this about?`, 'summarization'],
];

test.each(cases.map(([text, kind]) => [text.slice(0, 40).trim(), kind, text]))(
  '"%s" is %s',
  (_start, kind, text) => {
    expect(findTaskKind(fakeRequest(text)).kind).toBe(kind);
  },
);

test('only the last message of the user is asked, and the rule that fits is named', () => {
  const request = fakeRequest('Thanks! And how is the weather there?');
  const earlier = fakeRequest('Write a Python function').messages;
  const found = findTaskKind({ ...request, messages: [...earlier, ...request.messages] });
  expect(found).toEqual({ kind: 'chat', rule: 'no rule of code or summarization fits' });
  expect(findTaskKind(fakeRequest('tl;dr')).rule).toBe('the request asks for a summary');
});

test('tools that work on code, and a system message about summaries, tell the kind', () => {
  const tool = { name: 'run_code', parameters: {} };
  expect(findTaskKind(fakeRequest('Go on', { tools: [tool] })).kind).toBe('code');
  const system = {
    role: 'system',
    parts: [{ type: 'text', text: 'You summarize mails.' }],
  } as const;
  const { messages } = fakeRequest('Dear all, we meet at nine.');
  expect(findTaskKind(fakeRequest('', { messages: [system, ...messages] })).kind).toBe(
    'summarization',
  );
});

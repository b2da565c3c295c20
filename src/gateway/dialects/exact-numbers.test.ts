import { expect, test } from 'vitest';
import { collectAnswer } from '../conversation/collect.ts';
import type { Message } from '../conversation/request.ts';
import { anthropicFace } from '../faces/anthropic.ts';
import { openAiFace } from '../faces/openai.ts';
import { anthropicDialect } from './anthropic.ts';
import type { Dialect } from './dialect.ts';
import { parseExact, withExactNumbers, writeExact } from './exact-json.ts';
import { geminiDialect } from './gemini.ts';
import { ollamaDialect } from './ollama.ts';
import { openAiDialect } from './openai.ts';
import { ask, chatOf } from './testing.ts';
import { recordIn } from './untrusted.ts';

const input =
  '{"id":12345678901234567890,"of":[-9007199254740993,1.0,1e400],"text":"1234567890123456789 \\"1.0"}';

test.each(['{"a":01}', '{"a":1,}', '"', '', '{"a":1.}', '[1 2]', '{"a":--1}'])(
  'what is no JSON is none with exact numbers either: %s',
  (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
  },
);

test.each(['0', '-0', 'null', '[]', '{}', '"a\\\\"', '{"__proto__":1.50,"b":[true,false]}', input])(
  'a text is written as it was read: %s',
  (text) => {
    expect(writeExact(parseExact(text))).toBe(text);
  },
);

test('elsewhere an exact number is its double', () => {
  expect(JSON.stringify(parseExact('[1.0, 9007199254740993]'))).toBe('[1,9007199254740992]');
});

const streams: [string, Dialect, string[]][] = [
  [
    'Anthropic, whole from its start',
    anthropicDialect,
    [
      '{"type":"message_start","message":{"id":"m","model":"m"}}',
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":${input}}}`,
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
      '{"type":"message_stop"}',
    ],
  ],
  [
    'Gemini',
    geminiDialect,
    [
      `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":${input}}}]},"finishReason":"STOP"}]}`,
    ],
  ],
  [
    'Ollama',
    ollamaDialect,
    [
      `{"message":{"tool_calls":[{"function":{"name":"t","arguments":${input}}}]},"done":false}`,
      '{"message":{"content":""},"done":true,"done_reason":"stop"}',
    ],
  ],
  [
    'a server like OpenAI that sends an object',
    openAiDialect,
    [
      `{"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"t","arguments": ${input}}}]},"finish_reason":"tool_calls"}]}`,
    ],
  ],
];

test.each(streams)('streamed arguments keep their numbers: %s', (_name, dialect, pieces) => {
  const reader = dialect.openReader();
  const { choices } = collectAnswer(pieces.flatMap((data) => [...reader.read({ data })]));
  expect(choices[0]?.parts).toMatchObject([{ type: 'tool-call', arguments: input }]);
});

const called = (text: string): Message => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', id: 'c', name: 't', arguments: text }],
});

test.each([
  ['anthropic', anthropicDialect, 'input'],
  ['gemini', geminiDialect, 'args'],
  ['ollama', ollamaDialect, 'arguments'],
])('%s is told of a call with the numbers that it had', (_name, dialect, member) => {
  const request = chatOf({ messages: [ask('a'), called(input), ask('b')] });
  expect(dialect.unsupported(request)).toBeUndefined();
  expect(writeExact(dialect.writeChat(request, 'm').body)).toContain(`"${member}":${input}`);
});

test('a schema that is closed for Anthropic keeps the numbers in it', () => {
  const schema = '{"type":"object","properties":{"id":{"const":9223372036854775807}}}';
  const output = { type: 'schema', name: 'n', schema: recordIn(parseExact(schema)) } as const;
  const request = chatOf({ model: 'claude-sonnet-4-5', output });
  expect(anthropicDialect.unsupported(request)).toBeUndefined();
  const { body } = anthropicDialect.writeChat(request, request.model);
  expect(writeExact(body)).toContain('{"const":9223372036854775807}');
});

test.each(['-1e400', '9007199254740993', '0.69999999999999996', '1e-400', '1.00000000000000001'])(
  'a number that no double is is kept in what was parsed: %s',
  (number) => {
    const text = `{"a":[${number}]}`;
    expect(writeExact(withExactNumbers(JSON.parse(text) as unknown, text))).toBe(text);
  },
);

test.each(['1.50', '-0', '1E5', '12345678901234567000', '10.000', '2e-300'])(
  'a number that a double is, however written, stays a double: %s',
  (number) => {
    const text = String.raw`{"a":${number},"b":"1234567890123456789 \" 9007199254740993"}`;
    const parsed: unknown = JSON.parse(text);
    expect(withExactNumbers(parsed, text)).toBe(parsed);
  },
);

test('numbers in fields of their own are doubles, whatever their digits', () => {
  const text = '{"temperature":0.69999999999999996,"max_tokens":9,"model":"m","messages":[]}';
  const body = withExactNumbers(JSON.parse(text) as Readonly<Record<string, unknown>>, text);
  const messages = [{ role: 'user', content: 'a' }];
  for (const face of [openAiFace, anthropicFace])
    expect(face.read({ ...body, messages }).temperature).toBe(0.7);
});

test('a number is no object, however exact', () => {
  const block = { type: 'tool_use', id: 'c', name: 't', input: parseExact('12345678901234567890') };
  const messages = [{ role: 'assistant', content: [block] }];
  const read = () => anthropicFace.read({ model: 'm', max_tokens: 9, messages });
  expect(read).toThrow('messages.0.content.0.input: must be an object');
});

test('a text with a very long number is read in no time', () => {
  const text = `[1${'0'.repeat(1_000_000)}1]`;
  expect(writeExact(withExactNumbers(JSON.parse(text) as unknown, text))).toBe(text);
});

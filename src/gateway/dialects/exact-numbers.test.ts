import { expect, test } from 'vitest';
import { collectAnswer } from '../conversation/collect.ts';
import type { Message } from '../conversation/request.ts';
import { anthropicFace } from '../faces/anthropic.ts';
import { anthropicDialect } from './anthropic.ts';
import type { Dialect } from './dialect.ts';
import { parseExact, writeExact } from './exact-json.ts';
import { geminiDialect } from './gemini.ts';
import { ollamaDialect } from './ollama.ts';
import { openAiDialect } from './openai.ts';
import { ask, chatOf } from './testing.ts';

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
  ['anthropic', anthropicDialect],
  ['gemini', geminiDialect],
  ['ollama', ollamaDialect],
])('%s is not told of a call with another number', (_name, dialect) => {
  const unsupported = (text: string) =>
    dialect.unsupported(chatOf({ messages: [ask('a'), called(text)] }));
  expect(unsupported('{"id":1234567890123456789}')).toBe('arguments');
  expect(unsupported('{"a":[-9007199254740993]}')).toBe('arguments');
  expect(unsupported('{"a":1e400}')).toBe('arguments');
  const held = String.raw`{"a":9007199254740991,"b":1.50,"c":1e300,"d":"\"1234567890123456789"}`;
  expect(unsupported(held)).toBeUndefined();
});

test.each([
  ['openai', openAiDialect],
  ['gemini', geminiDialect],
  ['ollama', ollamaDialect],
])('%s is not told of what a client of Anthropic said with another number', (_name, dialect) => {
  const unsupported = (id: unknown) => {
    const content = [{ type: 'tool_use', id: 'c', name: 't', input: { id } }];
    const messages = [
      { role: 'assistant', content },
      { role: 'user', content: 'a' },
    ];
    const request = anthropicFace.read({ model: 'm', max_tokens: 9, messages });
    return request.fieldNames?.[dialect.unsupported(request) ?? ''];
  };
  expect(unsupported(JSON.parse('12345678901234567890'))).toBe('input');
  expect(unsupported(12)).toBeUndefined();
});

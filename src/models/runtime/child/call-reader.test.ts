import { describe, expect, test } from 'vitest';
import { plainCallSyntax, writeToolsAsText } from './plain-tools.ts';
import { CallReader, type CallSyntax, type ReadCall } from './call-reader.ts';

/** The syntax of Qwen's and many other templates. */
const marked: CallSyntax = {
  first: { trigger: '<tool_call>', beforeName: '\n{"name": "' },
  next: { trigger: '<tool_call>', beforeName: '\n{"name": "', between: '\n' },
  names: ['add', 'add_all'],
  afterName: () => '", "arguments": ',
  ending: () => '}\n</tool_call>',
};

/** One that knows a single call. */
const named: CallSyntax = {
  first: { trigger: '||call:', beforeName: ' ' },
  next: undefined,
  names: ['add'],
  afterName: () => '(',
  ending: () => ')',
};

/** Feeds pieces of so many characters, as tokens come. */
function read(syntax: CallSyntax, text: string, size = 1) {
  const reader = new CallReader(syntax, false);
  const calls: ReadCall[] = [];
  let content = '';
  for (let i = 0; i < text.length && !reader.isDone; i += size) {
    for (let one = reader.push(text.slice(i, i + size)); ; one = reader.push('')) {
      content += one.text;
      if (!one.call) break;
      calls.push(one.call);
    }
  }
  return { content: content + reader.finish(), calls, isDone: reader.isDone };
}

const write = (name: string, args: string) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;

describe('a call reader', () => {
  test.for(['{"a": }', '[1]', '1', '"x"', '{"a": 1]'])('refuses the arguments %s', (args) => {
    expect(() => read(marked, write('add', args))).toThrow(
      expect.objectContaining({ code: 'upstream', reason: 'unreadable_tool_call' }),
    );
  });

  test('refuses a call of a tool that is not there', () => {
    expect(() => read(marked, write('subtract', '{}'))).toThrow(
      expect.objectContaining({ reason: 'unreadable_tool_call' }),
    );
  });

  test('gives nothing of a call that is cut off', () => {
    const { content, calls } = read(marked, write('add', '{"a": 1}').slice(0, -20));
    expect({ content, calls }).toEqual({ content: '', calls: [] });
  });

  test.for([1, 2, 3, 7, 1000])('keeps text and calls apart in pieces of %i', (size) => {
    const text = `Let me <see>. <tool${write('add', '{"a": "}\\"{", "b": [1, {"c": 2}]}')}`;
    expect(read(marked, text, size)).toMatchObject({
      content: 'Let me <see>. <tool',
      calls: [{ name: 'add', arguments: { a: '}"{', b: [1, { c: 2 }] } }],
    });
  });

  test.for([1, 5, 1000])(
    'reads several calls in pieces of %i, and ends at what follows',
    (size) => {
      const text = `${write('add', '{"a":1}')}\n${write('add_all', '{}')}\n\nThe answer is 3.`;
      expect(read(marked, text, size)).toEqual({
        content: '',
        calls: [
          { name: 'add', arguments: { a: 1 } },
          { name: 'add_all', arguments: {} },
        ],
        isDone: true,
      });
    },
  );

  test('ends behind the call where the format knows only one', () => {
    expect(read(named, 'So: ||call: add({"a": 1})\n||result: 2')).toEqual({
      content: 'So: ',
      calls: [{ name: 'add', arguments: { a: 1 } }],
      isDone: true,
    });
  });

  test('gives out what only looked like a call', () => {
    expect(read(named, 'a ||call b ||ca').content).toBe('a ||call b ||ca');
  });

  test('knows how an open call may go on', () => {
    const reader = new CallReader(marked, false);
    reader.push('x <tool_call>\n{"na');
    expect(reader.continuations).toEqual([
      { name: 'add', text: 'me": "add", "arguments": ', ending: '}\n</tool_call>' },
      { name: 'add_all', text: 'me": "add_all", "arguments": ', ending: '}\n</tool_call>' },
    ]);
    reader.push('me": "add_');
    expect(reader.continuations).toMatchObject([{ name: 'add_all', text: 'all", "arguments": ' }]);
    reader.push('all", "arguments": {');
    expect(reader.continuations).toEqual([]);
  });

  test('goes on at the name when the prompt ends there', () => {
    const reader = new CallReader(named, true);
    expect(reader.continuations).toEqual([{ name: 'add', text: 'add(', ending: ')' }]);
    expect(reader.push('add({"a":2}').call).toEqual({ name: 'add', arguments: { a: 2 } });
  });

  test.for([1, 2, 1000])('of plain JSON only takes what names a tool, in pieces of %i', (size) => {
    const syntax = plainCallSyntax([{ name: 'add' }]);
    const other = '{"name": "adam", "age": 3} {"name": "ad';
    expect(read(syntax, other, size)).toMatchObject({ content: other, calls: [] });
    const call = '{"name": "add", "arguments": {"a": {"b": 1}}}';
    expect(read(syntax, `${other} ${call} more`, size)).toEqual({
      content: `${other} `,
      calls: [{ name: 'add', arguments: { a: { b: 1 } } }],
      isDone: true,
    });
  });
});

test('tools, calls and answers become plain messages for a template without tools', () => {
  const parameters = { type: 'object', properties: { city: {}, day: {} } };
  const tools = [{ name: 'weather', description: 'the weather', parameters }, { name: 'now' }];
  const call = { id: 'x', name: 'weather', arguments: { city: 'Paris', days: [1, 2] } };
  const messages = writeToolsAsText(
    [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Will it rain?' },
      { role: 'assistant', content: '', toolCalls: [call, { ...call, id: 'y', name: 'now' }] },
      { role: 'tool', callId: 'y', content: 'noon' },
      { role: 'tool', callId: 'x', content: 'sunny' },
    ],
    tools,
  );
  expect(messages).toEqual([
    {
      role: 'system',
      content:
        'You can call these tools:\n- weather(city, day): the weather\n- now()\n' +
        'To call a tool, answer with JSON: {"name": ..., "arguments": {...}}\nBe short.',
    },
    { role: 'user', content: 'Will it rain?' },
    {
      role: 'assistant',
      content:
        '{"name": "weather", "arguments": {"city": "Paris", "days": [1, 2]}}\n' +
        '{"name": "now", "arguments": {"city": "Paris", "days": [1, 2]}}',
    },
    { role: 'user', content: 'Result of now: noon\nResult of weather: sunny' },
  ]);
});

import { describe, expect, test } from 'vitest';
import { readInline } from './inline.ts';
import { readMarkdown, type Block } from './markdown.ts';

const text = (value: string) => ({ type: 'text', text: value });
const paragraph = (value: string) => ({ type: 'paragraph', children: [text(value)] });

describe('blocks', () => {
  test('headings, paragraphs and rules', () => {
    expect(readMarkdown('# One\nfirst\nsecond\n\n---\n### Three ###')).toEqual([
      { type: 'heading', level: 1, children: [text('One')] },
      { type: 'paragraph', children: [text('first'), { type: 'break' }, text('second')] },
      { type: 'rule' },
      { type: 'heading', level: 3, children: [text('Three')] },
    ]);
  });

  test('code keeps every character, and goes to the end where it is not closed', () => {
    expect(readMarkdown('```ts\nconst a = `*b*`;\n\n# no\n```\nafter')).toEqual([
      { type: 'code', language: 'ts', text: 'const a = `*b*`;\n\n# no' },
      paragraph('after'),
    ]);
    expect(readMarkdown('~~~\n```\nopen')).toEqual([
      { type: 'code', language: '', text: '```\nopen' },
    ]);
  });

  test('lists in lists, with what belongs to their items', () => {
    expect(readMarkdown('1. one\n   - inner\n2. two\n\n   more\n\nout')).toEqual([
      {
        type: 'list',
        start: 1,
        items: [
          [paragraph('one'), { type: 'list', items: [[paragraph('inner')]] }],
          [paragraph('two'), paragraph('more')],
        ],
      },
      paragraph('out'),
    ]);
  });

  test('tabs indent an item, and stay where they are in code', () => {
    expect(readMarkdown('- a\n\t- b\n\n```make\nall:\n\tcc\n```')).toEqual([
      { type: 'list', items: [[paragraph('a'), { type: 'list', items: [[paragraph('b')]] }]] },
      { type: 'code', language: 'make', text: 'all:\n\tcc' },
    ]);
  });

  test('other marks begin another list', () => {
    const types = readMarkdown('- a\n- b\n* c\n1. d').map((block) =>
      block.type === 'list' ? block.items.length : block.type,
    );
    expect(types).toEqual([2, 1, 1]);
  });

  test('quotes and tables', () => {
    expect(
      readMarkdown('> said\n> **so**\n\n| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |'),
    ).toEqual([
      {
        type: 'quote',
        blocks: [
          {
            type: 'paragraph',
            children: [text('said'), { type: 'break' }, { type: 'strong', children: [text('so')] }],
          },
        ],
      },
      {
        type: 'table',
        head: [[text('a')], [text('b')]],
        rows: [
          [[text('1')], [text('x | y')]],
          [[text('2')], []],
        ],
      },
    ]);
  });

  test('HTML is text', () => {
    expect(readMarkdown('<script>alert(1)</script>')).toEqual([
      paragraph('<script>alert(1)</script>'),
    ]);
  });
});

describe('pieces of a line', () => {
  test('bold, italics, both, struck out, and code', () => {
    expect(readInline('**a** *b* ***c*** ~~d~~ `e*` __f__ _g_')).toEqual([
      { type: 'strong', children: [text('a')] },
      text(' '),
      { type: 'emphasis', children: [text('b')] },
      text(' '),
      { type: 'strong', children: [{ type: 'emphasis', children: [text('c')] }] },
      text(' '),
      { type: 'strike', children: [text('d')] },
      text(' '),
      { type: 'code', text: 'e*' },
      text(' '),
      { type: 'strong', children: [text('f')] },
      text(' '),
      { type: 'emphasis', children: [text('g')] },
    ]);
  });

  test('marks that mean nothing are text', () => {
    for (const plain of ['2 * 3 * 4', 'snake_case_name', '**open', '[a](b', 'a ** b **']) {
      expect(readInline(plain), plain).toEqual([text(plain)]);
    }
    expect(readInline('\\*not\\*')).toEqual([text('*'), text('not'), text('*')]);
  });

  test('links go to the web only', () => {
    expect(readInline('[here](https://a.example/b_(c)?d "t")')).toEqual([
      { type: 'link', href: 'https://a.example/b_(c)?d', children: [text('here')] },
    ]);
    for (const plain of ['[x](javascript:alert(1))', '[x](data:text/html,a)', '[x](/path)']) {
      expect(readInline(plain), plain).toEqual([text(plain)]);
    }
  });

  test('addresses are links without the end of their sentence', () => {
    expect(readInline('(see https://a.example/x_y, or <https://b.example>).')).toEqual([
      text('(see '),
      { type: 'link', href: 'https://a.example/x_y', children: [text('https://a.example/x_y')] },
      text(', or '),
      { type: 'link', href: 'https://b.example', children: [text('https://b.example')] },
      text(').'),
    ]);
  });
});

test('hostile texts take no longer than others of their length', () => {
  const length = 100_000;
  const hostile = ['*', '_', '`', '[', '**a ', '>', '- ', '<', '~~', 'h', '`` ` ', '![', '|\n|-'];
  const blocks = hostile.flatMap((part): readonly Block[] =>
    readMarkdown(part.repeat(length / part.length)),
  );
  expect(blocks.length).toBeGreaterThan(0);
});

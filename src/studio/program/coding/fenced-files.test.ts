import { expect, test } from 'vitest';
import { readFencedFiles } from './fenced-files.ts';

test.each([
  ['../../etc/passwd', 'dots'],
  ['/etc/passwd', 'the root'],
  ['.git/hooks/pre-commit', 'git’s hooks'],
  ['src/.GIT/config', 'git in capitals'],
  ['.g\u200cit/hooks/x', 'git with a letter that is ignored'],
  ['GIT~1/hooks/x', 'git by its short name'],
  ['a\\..\\..\\b', 'backslashes'],
  ['C:/x', 'a drive'],
  ['a/./b', 'a dot'],
  ['.ennead/sync.json', 'the service’s own'],
])('a path that leads elsewhere spoils the answer: %s (%s)', (path) => {
  const text = `\`\`\`path=ok.txt\nfine\n\`\`\`\n\`\`\`path="${path}"\nx\n\`\`\``;
  expect(() => readFencedFiles(text)).toThrow('The model’s answer cannot be used');
});

test('a file that does not end, or stands twice, spoils the answer', () => {
  expect(() => readFencedFiles('```path=a.ts\nconst a')).toThrow('a.ts does not end');
  const twice = '```path=a.ts\n1\n```\n```path=./a.ts\n2\n```';
  expect(() => readFencedFiles(twice)).toThrow('a.ts stands twice');
});

test('only blocks whose info string is a path are files', () => {
  const text = [
    'Here:',
    '```ts',
    'not a file',
    '```',
    '```ts path=src/a.ts',
    'const a = 1;',
    '```',
    '````path="with blank.md"',
    '```',
    'inner',
    '```',
    '````',
    '```path=',
    'none',
    '```',
    '~~~path=b.txt',
    '~~~',
  ].join('\r\n');
  expect(readFencedFiles(text)).toEqual([
    { path: 'src/a.ts', content: 'const a = 1;\n' },
    { path: 'with blank.md', content: '```\ninner\n```\n' },
    { path: 'b.txt', content: '' },
  ]);
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { coder } from '../templates/coder.ts';
import { hashOf, openJob, startFakeSuite, type FakeSuite, type JobOptions } from '../testing.ts';

let suite: FakeSuite;

beforeAll(async () => {
  suite = await startFakeSuite();
});
afterAll(() => suite[Symbol.asyncDispose]());
beforeEach(() => {
  suite.files.clear();
  suite.files.set('src/a.ts', 'export const a = 1;\n');
});

const ask = (options: JobOptions = {}, type = 'code_generation') =>
  coder.perform(openJob(suite, type, { ...options, input: { prompt: 'do it', ...options.input } }));
/** What the model was told of its calls. */
const told = () =>
  suite
    .questions()
    .at(-1)!
    .body.messages.filter(({ role }: { role: string }) => role === 'tool')
    .map(({ content }: { content: string }) => content);

test('a task without a prompt, or without a workspace, is refused in plain words', async () => {
  await expect(ask({ input: { prompt: ' ' } })).rejects.toThrow('needs input.prompt');
  await expect(ask({ hasWorkspace: false })).rejects.toThrow('needs an agent in a workspace');
  await expect(coder.perform(openJob(suite, 'deploy'))).rejects.toThrow(
    'cannot do tasks of the type deploy',
  );
});

test.each(['../../etc/passwd', '/etc/passwd', '.git/hooks/pre-commit', 'a/../../b', '.ennead/x'])(
  'a model cannot write or read %s',
  async (path) => {
    suite.script(
      {
        calls: [
          ['write_file', { path, content: 'x' }],
          ['read_file', { path }],
        ],
      },
      'Done.',
    );
    const answer = await ask();
    expect(answer.artefacts).toEqual([]);
    expect([...suite.files.keys()]).toEqual(['src/a.ts']);
    expect(suite.asked.some((one) => one.path.includes('/files/'))).toBe(false);
    for (const words of told()) expect(words).toMatch(/is no path of the workspace|is git’s own/);
  },
);

test('a file that was not read, or that changed since, is not overwritten', async () => {
  suite.script({ calls: [['write_file', { path: 'src/a.ts', content: 'blind\n' }]] }, 'Done.');
  expect(await ask()).toMatchObject({ artefacts: [] });
  expect(suite.files.get('src/a.ts')).toBe('export const a = 1;\n');
  expect(told()[0]).toContain('read it first');
});

test('a model that writes U+0000 is told what is wrong in words that every service takes', async () => {
  suite.script({ calls: [['read_file', { path: 'a\0b' }]] }, 'Done.');
  expect(await ask()).toMatchObject({ text: 'Done.' });
  expect(told()[0]).toContain('a\ufffdb');
});

test('what goes wrong in a call is told to the model, and the work goes on', async () => {
  suite.script(
    {
      calls: [
        ['no_such', {}],
        ['read_file', '{broken'],
        ['read_file', {}],
        ['read_file', { path: 'gone.ts' }],
      ],
    },
    'Done.',
  );
  expect(await ask()).toMatchObject({ text: 'Done.' });
  expect(told()).toEqual([
    'There is no tool no_such.',
    'The arguments are not a JSON object: write them again.',
    'path is missing, or no text.',
    'There is no such file.',
  ]);
});

test('files are listed, searched, read and written, and the answer shows what changed', async () => {
  const after = 'export const a = 2;\n';
  suite.script(
    {
      calls: [
        ['list_files', {}],
        ['search', { text: 'CONST A' }],
        ['read_file', { path: 'src/a.ts' }],
      ],
    },
    {
      calls: [
        ['write_file', { path: 'src/a.ts', content: after }],
        ['write_file', { path: 'new.ts', content: 'new\n' }],
      ],
    },
    'Changed a.',
  );
  const answer = await ask({ input: { model: 'wanted' } });
  expect(answer).toEqual({
    text: 'Changed a.',
    model: 'scripted',
    usage: { promptTokens: 30, completionTokens: 15 },
    artefacts: [
      { kind: 'file', path: 'src/a.ts', hash: hashOf(after) },
      { kind: 'file', path: 'new.ts', hash: hashOf('new\n') },
      {
        kind: 'diff',
        text: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-export const a = 1;\n+export const a = 2;\n--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1 @@\n+new\n',
      },
    ],
  });
  expect(told().slice(0, 3)).toEqual([
    'src/a.ts (20 bytes)',
    'src/a.ts:1: export const a = 1;',
    'export const a = 1;\n',
  ]);
  const [first] = suite.questions();
  expect(first).toMatchObject({
    body: { model: 'wanted' },
    headers: {
      traceparent: expect.stringContaining('a'.repeat(32)),
      authorization: 'Bearer token',
    },
  });
  const puts = suite.asked.filter(({ path }) => path.includes('device=agt_1'));
  expect(puts).toHaveLength(2);
});

test('tools of the registry are offered where the task names them, and called', async () => {
  await expect(ask({ input: { tools: ['web__fetch'] } })).rejects.toThrow('no tool web__fetch');
  suite.tools.push(
    { name: 'web__fetch', result: { content: [{ type: 'text', text: 'the page' }] } },
    { name: 'web__other', result: {} },
  );
  suite.script({ calls: [['web__fetch', { url: 'x' }]] }, 'Done.');
  await ask({ input: { tools: ['web__fetch'] } });
  const names = suite
    .questions()[0]!
    .body.tools.map((tool: { function: { name: string } }) => tool.function.name);
  expect(names).toEqual(['list_files', 'read_file', 'write_file', 'search', 'web__fetch']);
  expect(told()).toEqual(['the page']);
});

test('work that does not end is ended after 40 rounds', async () => {
  suite.script(...Array.from({ length: 50 }, () => ({ calls: [['list_files', {}] as const] })));
  expect((await ask()).text).toContain('ended after 40 rounds');
  expect(suite.questions()).toHaveLength(40);
});

const noTools = { status: 400, error: { message: 'tools are not known', param: 'tools' } };

test('a model without tools is asked for files in blocks', async () => {
  suite.script(noTools, 'Here.\n```path=src/b.ts\nexport const b = 1;\n```\n');
  const answer = await ask({}, 'refactor');
  expect(answer.artefacts[0]).toMatchObject({ kind: 'file', path: 'src/b.ts' });
  expect(suite.files.get('src/b.ts')).toBe('export const b = 1;\n');
  expect(suite.questions()[1]!.body).not.toHaveProperty('tools');
});

test('blocks for files that are there are asked for again, with what they hold', async () => {
  const block = '```path=src/a.ts\nexport const a = 2;\n```';
  suite.script(noTools, block, block);
  expect(await ask()).toMatchObject({ artefacts: [{ path: 'src/a.ts' }, { kind: 'diff' }] });
  expect(suite.questions()[2]!.body.messages.at(-1).content).toContain('export const a = 1;');
});

test('blocks that lead outside are asked for once more, then refused', async () => {
  const block = '```path=../../etc/passwd\nroot\n```';
  suite.script(noTools, block, block);
  await expect(ask()).rejects.toThrow('The model’s answer cannot be used');
  expect([...suite.files.keys()]).toEqual(['src/a.ts']);
});

test('another refusal of the gateway is told as it is', async () => {
  suite.script({ status: 502, error: { message: 'no provider answers' } });
  await expect(ask()).rejects.toThrow('The gateway refused: no provider answers');
});

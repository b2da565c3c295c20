import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openJob, startFakeSuite, type FakeSuite, type JobOptions } from '../testing.ts';
import { templateFor, templates } from './templates.ts';

let suite: FakeSuite;
let folder: string;

beforeAll(async () => {
  suite = await startFakeSuite();
  folder = await mkdtemp(join(tmpdir(), 'studio-templates-'));
  suite.files.set('a.ts', 'const a = `x`;\n');
});
afterAll(async () => {
  await suite[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const ask = async (template: string, type: string, options: JobOptions = {}) =>
  templateFor(template).perform(openJob(suite, type, options));

test('a type of spawn that names no template is an assistant', () => {
  expect(templates.map(({ name }) => name)).toEqual(['assistant', 'coder', 'reviewer', 'tester']);
  expect(templateFor('researcher').name).toBe('assistant');
  expect(templateFor('coder').name).toBe('coder');
});

test.each([
  ['an assistant', 'deploy'],
  ['a coder', 'deploy'],
  ['a reviewer', 'code_generation'],
  ['a tester', 'code_generation'],
])('%s says that it cannot do %s', async (named, type) => {
  const template = named.split(' ').at(-1) ?? '';
  const refused = ask(template, type, { input: { prompt: 'x' } });
  await expect(refused).rejects.toThrow(`This agent is ${named} and cannot do tasks`);
});

test('an assistant answers with the files that the task names', async () => {
  suite.script('It is x.');
  const input = { prompt: 'What is a?', context: { files: ['a.ts'], hint: 'look' } };
  expect(await ask('assistant', 'explain', { input })).toMatchObject({
    text: 'It is x.',
    artefacts: [],
    model: 'scripted',
  });
  const { content } = suite.questions()[0]!.body.messages.at(-1);
  expect(content).toContain('```path=a.ts\nconst a = `x`;\n```');
  expect(content).toContain('"hint": "look"');
  expect(content).toMatch(/What is a\?$/);
  for (const files of [['gone.ts'], ['../x'], 'a.ts', [1]]) {
    const refused = ask('assistant', 'explain', { input: { prompt: 'x', context: { files } } });
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
  }
});

test('a model whose answer is lost, or that is refused for now, is asked again', async () => {
  const away = { status: 503, error: { message: 'nobody can answer now' } };
  suite.script({ isBroken: true }, away, 'Here again.');
  const input = { prompt: 'Are you there?' };
  expect(await ask('assistant', 'explain', { input })).toMatchObject({ text: 'Here again.' });
  expect(suite.questions()).toHaveLength(3);
});

const finding = { file: 'a.ts', line: 1, severity: 'warning', message: 'a needs a name' };

test('a reviewer answers findings, after one repair at most', async () => {
  const input = { context: { files: ['a.ts'] } };
  suite.script('Looks bad!', `\`\`\`json\n${JSON.stringify({ findings: [finding] })}\n\`\`\``);
  expect(await ask('reviewer', 'review', { input })).toMatchObject({
    text: '1 finding.',
    artefacts: [{ kind: 'findings', findings: [finding] }],
  });
  expect(suite.questions()[1]!.body.messages.at(-1).content).toContain('not a JSON object');
  const bad = JSON.stringify({ findings: [{ ...finding, severity: 'awful' }] });
  suite.script(bad, bad);
  await expect(ask('reviewer', 'review', { input })).rejects.toThrow('findings[0].severity');
  await expect(ask('reviewer', 'review')).rejects.toThrow('A review needs');
});

test('tests that fail are a result, with their exit code', async () => {
  await writeFile(
    join(folder, 'check.mjs'),
    `console.log('TAP version 13\\nok 1 - fine\\nnot ok 2 - broken\\n1..2'); process.exitCode = 3;`,
  );
  suite.settings.testCommand = [process.execPath, 'check.mjs'];
  for (const template of ['tester', 'coder', 'assistant', 'reviewer']) {
    const answer = await ask(template, 'test', { folder });
    expect(answer.text).toMatch(/^Exit code 3 after [\d.]+ s: 1 passed, 1 failed, 0 skipped\.$/);
    expect(answer.artefacts).toMatchObject([
      { kind: 'test_report', report: { passed: 1, failed: 1, exitCode: 3 } },
    ]);
  }
});

test('only the command of the workspace is run', async () => {
  suite.settings.testCommand = [];
  const input = { testCommand: [process.execPath, '--version'] };
  await expect(ask('tester', 'test', { folder, input })).rejects.toThrow('has no test command');
  suite.settings.testCommand = ['/no/such/program'];
  await expect(ask('tester', 'test', { folder })).rejects.toThrow('could not be started');
  await expect(ask('tester', 'test')).rejects.toThrow('folder is not where this agent runs');
});

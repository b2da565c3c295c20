import { rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  readRandomModel,
  sha256,
  startSource,
  type Source,
} from '../../src/models/library/testing.ts';
import { freePortBase } from '../../src/kit/testing.ts';
import { askEnnead, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;
let source: Source;
let content: Buffer;
beforeAll(async () => {
  folder = await temporaryFolder();
  source = await startSource();
  content = await readRandomModel();
  source.files.set('/far.gguf', { content, etag: '"1"' });
  source.files.set('/broken.gguf', { content: Buffer.from('not a model') });
  const base = await freePortBase();
  variables = {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    MODELS_PULL_ALLOW: '127.0.0.1',
  };
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await folder.remove();
});

/** Runs `ennead models …` with this suite's settings. */
function ask(line: string, more: Record<string, string> = {}) {
  return askEnnead(['models', ...line.split(' ')], { variables: { ...variables, ...more } });
}

async function answerOf(line: string) {
  const { code, stdout, stderr } = await ask(`${line} --json`);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function refusalOf(line: string, more?: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await ask(line, more);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
}

const far = () => `${source.origin}/far.gguf`;
const names = (models: readonly { readonly name: string }[]) => models.map(({ name }) => name);

/** Both ways to the models must answer alike. */
function describeCommands(): void {
  test('what cannot be pulled is refused with a sentence', async () => {
    expect(await refusalOf('pull https://elsewhere.example/x.gguf')).toContain('may not be pulled');
    expect(await refusalOf(`pull ${source.origin}/broken.gguf`)).toContain('no usable GGUF model');
    expect(await refusalOf('rm none')).toContain('there is no model none');
    expect(await refusalOf('pull ennead-embed')).toContain('what comes with Ennead');
  });

  test('what comes with Ennead is listed and shown, also the embedder', async () => {
    expect(names(await answerOf('list'))).toEqual(
      expect.arrayContaining(['ennead-tiny', 'ennead-embed']),
    );
    expect(await answerOf('show ennead-embed')).toMatchObject({ capabilities: ['embedding'] });
  });

  test('a model is pulled, listed, shown and deleted', async () => {
    const pulled = await ask(`pull ${far()}`);
    expect(pulled.stderr).toMatch(/pulling manifest\n(.*\n)*pulling far .*\n(.*\n)*success\n/);
    expect(pulled).toMatchObject({ code: 0, stdout: `pulled ${far()}\n` });
    expect(await answerOf('list')).toContainEqual(
      expect.objectContaining({ name: 'far', bytes: content.length, family: 'llama' }),
    );
    expect(await answerOf('show FAR')).toMatchObject({
      name: 'far',
      bytes: content.length,
      digest: sha256(content),
      quantization: 'F32',
      contextTokens: 2048,
    });
    expect((await ask('rm far')).stdout).toBe('deleted far\n');
    expect(names(await answerOf('list'))).not.toContain('far');
  });

  test('a file of this machine is added and seen at once', async () => {
    const path = join(folder.path, 'near.gguf');
    await writeFile(path, content);
    expect(await refusalOf(`add ${folder.path}/none.gguf`)).toContain('there is no file');
    expect(await refusalOf(`add ${path}`, { ENNEAD_MODELS_URL: 'http://127.0.0.1:9' })).toContain(
      'add the file on that machine',
    );
    expect((await ask(`add ${path} --name mine/near:1m`)).stdout).toBe('added mine/near:1m\n');
    expect(names(await answerOf('list'))).toContain('mine/near:1m');
    await answerOf('rm mine/near:1m');
    expect((await stat(path)).size).toBe(content.length);
    await rm(path);
  });
}

describe('without a running suite', () => {
  test('that is said', async () => {
    expect((await ask('list')).stderr).toContain('the suite is not running: working in');
  });

  test('a suite on another machine is not replaced by this one’s folder', async () => {
    const elsewhere = { ENNEAD_MODELS_URL: 'http://127.0.0.1:9' };
    expect(await refusalOf('list', elsewhere)).toContain('cannot be reached at http://127.0.0.1:9');
  });

  describeCommands();
});

describe('with a running suite', () => {
  let suite: Ennead;
  beforeAll(async () => {
    suite = startEnnead(['run', 'auth', 'models'], variables);
    await suite.ready;
  });
  afterAll(() => suite.stop());

  test('who may not manage models pulls and deletes none', async () => {
    const created = await askEnnead(
      ['users', 'create', 'bob', '--email', 'bob@example.com', '--role', 'user', '--json'],
      { variables },
    );
    expect(created.code, created.stderr).toBe(0);
    const { password } = JSON.parse(created.stdout);
    const bob = { ENNEAD_ADMIN_USERNAME: 'bob', ENNEAD_ADMIN_PASSWORD: password };
    expect(await refusalOf(`pull ${far()}`, bob)).toContain('models:manage');
    expect(await refusalOf('rm ennead-tiny', bob)).toContain('models:manage');
  });

  test('it has the folder: nobody else changes it', async () => {
    const alone = { ENNEAD_PORT_BASE: String(await freePortBase()) };
    expect(await refusalOf(`pull ${far()}`, alone)).toContain('in use by process');
  });

  describeCommands();
});

test('a suite that is killed while it pulls has the command say how to go on', async () => {
  const suite = startEnnead(['run', 'auth', 'models'], variables);
  await suite.ready;
  const silent = createServer(() => void suite.stop('SIGKILL'));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo; // of a TCP server it is never a path
  const refusal = await refusalOf(`pull http://127.0.0.1:${port}/late.gguf`);
  expect(refusal).toContain('has gone meanwhile; the same pull goes on where it was');
  silent.close();
});

test('the catalogue says what suits this machine', async () => {
  const { stdout } = await ask('catalogue');
  expect(stdout).toMatch(/^NAME +SIZE +MEMORY +CAN +LICENCE\n/);
  expect(stdout).toMatch(/qwen3:0\.6b +639 MB/);
});

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listenAnywhere, startService } from '../../kit/testing.ts';
import { encodeSplitModel, writeRandomModel } from '../../models/random-model/random-gguf.ts';
import { models } from '../../models/service.ts';
import { readConfiguration } from '../../settings.ts';
import { checkModels } from './doctor-models.ts';

let dataFolder: string;
let folder: string;
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'ennead-doctor-'));
  folder = join(dataFolder, 'models');
  await mkdir(folder);
});
afterEach(() => rm(dataFolder, { recursive: true }));

async function check(environment: Readonly<Record<string, string>> = {}) {
  const all = { ENNEAD_DATA_DIR: dataFolder, ...environment };
  return checkModels(readConfiguration(all, [models]));
}

/** Those of a level, without the folder's path. */
async function textsOf(level: 'good' | 'warning', environment = {}): Promise<string[]> {
  const findings = await check(environment);
  const own = findings.filter((finding) => finding.level === level);
  return own.map(({ text }) => text.replaceAll(`${folder}/`, ''));
}

describe('of the models folder the doctor', () => {
  test('names what is cut, unsound or lacks a part', async () => {
    const sound = join(folder, 'sound.gguf');
    await writeRandomModel(sound);
    const bytes = await readFile(sound);
    await writeFile(join(folder, 'cut.gguf'), bytes.subarray(0, 5000));
    const headless = Buffer.from(bytes);
    headless.write('elsewhere.weight', headless.indexOf('token_embd.weight'), 'latin1');
    await writeFile(join(folder, 'headless.gguf'), headless);
    const [first = bytes] = encodeSplitModel(2);
    await writeFile(join(folder, 'half-00001-of-00002.gguf'), first);
    expect(await textsOf('warning')).toEqual([
      'headless.gguf has no tensor token_embd.weight: delete it or fetch it again',
      expect.stringMatching(/^cut\.gguf is no usable GGUF model: .*: delete it or fetch it again$/),
      expect.stringContaining('no usable GGUF model: its part half-00002-of-00002.gguf is missing'),
    ]);
    const [listed] = await textsOf('good');
    expect(listed).toBe('models: sound, ennead-tiny (by what their headers say: none was loaded)');
  });

  test('says that it cannot be read', async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, 'x');
    expect(await check()).toEqual([
      { level: 'bad', text: `the folder of models ${folder} cannot be read (ENOTDIR)` },
    ]);
  });

  test('names the files that are not listed, and why', async () => {
    await writeFile(join(folder, 'bad name!.gguf'), 'x');
    await writeFile(join(folder, 'later-00002-of-00002.gguf'), 'x');
    expect(await textsOf('warning')).toEqual([
      'bad name!.gguf is not listed: its name cannot be a model name; rename or delete it',
      'later-00002-of-00002.gguf is not listed: the first part is missing; rename or delete it',
    ]);
  });

  test('recommends a model for the memory while there is only what came with Ennead', async () => {
    const roomy = await textsOf('good', { MODELS_MEMORY_MB: '100000' });
    expect(roomy).toEqual([
      expect.stringMatching(/^models: ennead-tiny /) as string,
      expect.stringMatching(/ennead models pull qwen3:4b .*Apache-2\.0/) as string,
    ]);
    expect(await textsOf('good', { MODELS_MEMORY_MB: '64' })).toHaveLength(1);
    await writeRandomModel(join(folder, 'mine.gguf'));
    expect(await textsOf('good', { MODELS_MEMORY_MB: '100000' })).toHaveLength(1);
  });
});

describe('of external runtimes the doctor', () => {
  let far: Awaited<ReturnType<typeof startService>>;
  let url: string;
  beforeAll(async () => {
    far = await startService(models);
    url = await listenAnywhere(far.host.http);
  });
  afterAll(() => far[Symbol.asyncDispose]());

  test('says that one answers, and how many models it has', async () => {
    const settings = { OLLAMA_URL: url, OLLAMA_API_KEY: await far.issuer.sign() };
    expect(await check(settings)).toContainEqual({
      level: 'good',
      text: 'ollama answers and has 2 models',
      facts: { runtime: 'ollama', modelCount: 2 },
    });
  });

  test('warns of one that refuses it, and of one that is not there', async () => {
    const settings = { OLLAMA_URL: url, MODELS_OPENAI_URL: 'http://127.0.0.1:9/v1' };
    expect(await textsOf('warning', settings)).toEqual([
      expect.stringMatching(
        /^the models of ollama are left out: ollama asks for a key that it accepts/,
      ) as string,
      expect.stringMatching(/^the models of openai are left out: ./) as string,
    ]);
  });
});

import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { encodeSplitModel } from '../random-model/random-gguf.ts';
import { ChildRuntime } from '../runtime/child-runtime.ts';
import { parseGgufHeader } from './gguf/gguf-header.ts';
import { findFlaw } from './gguf/soundness.ts';
import {
  openGround,
  readRandomModel,
  sha256,
  startSource,
  type Source,
  type SourceFile,
} from './testing.ts';

const parts = encodeSplitModel(3);
const bytes = parts.reduce((sum, part) => sum + part.length, 0);
const partNames = [1, 2, 3].map((number) => `Big-Q4_K_M-0000${number}-of-00003.gguf`);

let source: Source;
let whole: Buffer;
let elsewhere: string;
beforeAll(async () => {
  source = await startSource();
  whole = await readRandomModel();
  elsewhere = await mkdtemp(join(tmpdir(), 'ennead-parts-'));
  for (const [i, part] of parts.entries()) await writeFile(join(elsewhere, `far${tail(i)}`), part);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await rm(elsewhere, { recursive: true });
});
beforeEach(() => {
  source.requests.length = 0;
  source.files.clear();
});

/** The end of a part's name. */
function tail(index: number): string {
  return `-0000${index + 1}-of-00003.gguf`;
}

interface HubFile extends Partial<SourceFile> {
  readonly oid?: string;
}

/** Offers files of a repository. */
function offerHub(files: Readonly<Record<string, HubFile>>): void {
  const tree = Object.entries(files).map(([path, { content = whole, oid = sha256(content) }]) => ({
    type: 'file',
    path,
    size: content.length,
    lfs: { oid, size: content.length },
  }));
  const listing = { content: Buffer.from(JSON.stringify(tree)) };
  source.files.set('/api/models/some/repo/tree/main', listing);
  for (const [path, file] of Object.entries(files)) {
    source.files.set(`/some/repo/resolve/main/${path}`, { content: whole, etag: '"v1"', ...file });
  }
}

function offerParts(changed: Readonly<Record<number, HubFile>> = {}): void {
  const entries = partNames.map((name, i) => [name, { content: parts[i] ?? whole, ...changed[i] }]);
  offerHub(Object.fromEntries(entries) as Record<string, HubFile>);
}

async function openHub() {
  return openGround({ huggingFaceUrl: source.origin });
}

const reference = 'hf.co/some/repo:Q4_K_M';
const stem = 'hf.co+some+repo@Q4_K_M';

function fetched(): string[] {
  return source.requests.filter(({ path }) => path.includes('/resolve/')).map(({ path }) => path);
}

describe('a model in several files', () => {
  test('of which the source lacks a part is not begun', async () => {
    await using ground = await openHub();
    offerHub({ [partNames[0] ?? '']: { content: parts[0] ?? whole } });
    await expect(ground.pull(reference)).rejects.toMatchObject({ reason: 'bad_source' });
    expect(fetched()).toEqual([]);
  });

  test('of which a part has other bytes than its digest says is not installed', async () => {
    await using ground = await openHub();
    offerParts({ 2: { oid: sha256(whole) } });
    await expect(ground.pull(reference)).rejects.toMatchObject({ reason: 'digest_mismatch' });
    expect(await ground.library.list()).toEqual([]);
  });

  test('whose parts belong to different models is not installed, and nothing is left', async () => {
    await using ground = await openHub();
    offerParts({ 1: { content: parts[2] ?? whole } });
    await expect(ground.pull(reference)).rejects.toMatchObject({ reason: 'bad_model_file' });
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('is pulled as one model that is as large as its parts and has all their weights', async () => {
    await using ground = await openHub();
    offerParts();
    const progress = await ground.pull(reference);
    const completed = progress.filter(({ total, completed: done }) => total && done === total);
    expect(completed.map(({ digest }) => digest)).toEqual(
      parts.map((part) => `sha256:${sha256(part)}`),
    );
    const sound = parseGgufHeader(whole);
    const [model, ...others] = await ground.library.list();
    expect(others).toEqual([]);
    expect(model).toMatchObject({
      name: reference,
      bytes,
      parameterCount: sound.parameterCount,
      digest: sha256(Buffer.from(parts.map((part) => `${sha256(part)}\n`).join(''))),
    });
    expect(model?.header && findFlaw(model.header)).toBeUndefined();
    const names = [0, 1, 2].map((i) => stem + tail(i));
    expect((await readdir(ground.folder)).toSorted()).toEqual(
      [...names, `${stem}${tail(0)}.json`].toSorted(),
    );
  });

  test('answers as the same model in one file does', async () => {
    await using ground = await openHub();
    offerParts();
    await ground.pull(reference);
    const { path } = await ground.library.find(reference);
    const single = join(elsewhere, 'single.gguf');
    await writeFile(single, whole);
    await using runtime = new ChildRuntime({ log: silentLog, threads: 1 });
    const answer = async (modelPath: string) => {
      const request = { prompt: { text: 'the water' }, temperature: 0, maxTokens: 8, modelPath };
      let text = '';
      for await (const event of runtime.generate(request)) {
        if (event.type === 'text') text += event.text;
      }
      return text;
    };
    expect(await answer(path)).toBe(await answer(single));
    expect((await answer(path)).length).toBeGreaterThan(0);
  });

  test('that was cut in its second part goes on there and fetches no part twice', async () => {
    await using ground = await openHub();
    const cut = 1000;
    const part = join(ground.folder, `${stem}${tail(1)}.part`);
    offerParts({ 1: { content: parts[1] ?? whole, cuts: [cut, 0, 0], part } });
    await expect(ground.pull(reference)).rejects.toMatchObject({ reason: 'pull_cut' });
    expect(await ground.library.list()).toEqual([]);
    source.requests.length = 0;
    await ground.pull(reference);
    const [, ...asked] = source.requests.map(({ path, range }) => [
      path.slice(-tail(0).length),
      range,
    ]);
    expect(asked).toEqual([
      [tail(1), `bytes=${cut}-`],
      [tail(2), undefined],
    ]);
    expect(await ground.library.list()).toMatchObject([{ name: reference, bytes }]);
  });

  test('is not fetched again, and gives way to a newer version in one file', async () => {
    await using ground = await openHub();
    offerParts();
    await ground.pull(reference);
    source.requests.length = 0;
    await ground.pull(reference);
    expect(fetched()).toEqual([]);
    offerHub({ 'Big-Q4_K_M.gguf': {} });
    await ground.pull(reference);
    expect(await ground.library.list()).toMatchObject([{ digest: sha256(whole) }]);
    expect((await readdir(ground.folder)).toSorted()).toEqual([
      `${stem}.gguf`,
      `${stem}.gguf.json`,
    ]);
    offerParts();
    await ground.pull(reference);
    expect(await ground.library.list()).toMatchObject([{ bytes }]);
    await ground.library.delete(reference);
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('that has lost a part is not taken for whole: it is fetched anew', async () => {
    await using ground = await openHub();
    offerParts();
    await ground.pull(reference);
    await rm(join(ground.folder, stem + tail(1)));
    await ground.pull(reference);
    expect(await ground.library.list()).toMatchObject([{ name: reference, bytes }]);
  });

  test('is fetched by the address of any of its parts, but not with one digest for all', async () => {
    await using ground = await openGround();
    for (const [i, content] of parts.entries()) {
      source.files.set(`/x/far${tail(i)}`, { content, etag: '"v1"' });
    }
    const address = `${source.origin}/x/far${tail(1)}`;
    await expect(ground.pull(`${address}#sha256=${'0'.repeat(64)}`)).rejects.toMatchObject({
      reason: 'split_model',
    });
    const progress = await ground.pull(address);
    expect(progress.map(({ status }) => status)).toContain('pulling far, part 3 of 3');
    expect(await ground.library.list()).toMatchObject([{ name: 'far', bytes }]);
  });
});

describe('a model in several files of this machine', () => {
  test('is added whole, under its own name or another one, and never twice', async () => {
    await using ground = await openGround();
    const first = join(elsewhere, `far${tail(0)}`);
    const added = await ground.library.add(first);
    expect(added).toMatchObject({ name: 'far', bytes });
    const last = join(elsewhere, `far${tail(2)}`);
    const copy = await ground.library.add(last, { name: 'near:1b' });
    expect(copy).toMatchObject({ name: 'near:1b', bytes, digest: added.digest });
    await expect(ground.library.add(first)).rejects.toMatchObject({ reason: 'model_exists' });
    const single = join(elsewhere, 'single.gguf');
    await writeFile(single, whole);
    await expect(ground.library.add(single, { name: 'far' })).rejects.toMatchObject({
      reason: 'model_exists',
    });
    await ground.library.delete('near:1b');
    await ground.library.delete('far');
    expect(await readdir(ground.folder)).toEqual([]);
    expect((await stat(first)).size).toBe(parts[0]?.length);
  });

  test('is not added when a part is missing or its name was changed', async () => {
    await using ground = await openGround();
    const lonely = join(elsewhere, 'lonely-00001-of-00003.gguf');
    await writeFile(lonely, parts[0] ?? whole);
    const renamed = join(elsewhere, 'renamed.gguf');
    await writeFile(renamed, parts[0] ?? whole);
    for (const file of [lonely, renamed]) {
      await expect(ground.library.add(file)).rejects.toMatchObject({ reason: 'bad_model_file' });
    }
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('can do nothing while a part is missing, and a part without the first is a stray', async () => {
    await using ground = await openGround();
    await ground.library.add(join(elsewhere, `far${tail(0)}`));
    await rm(join(ground.folder, `far${tail(2)}`));
    expect(await ground.library.list()).toMatchObject([{ name: 'far', capabilities: [] }]);
    await rm(join(ground.folder, `far${tail(0)}`));
    expect(await ground.library.list()).toEqual([]);
    expect(await ground.library.strays()).toEqual([
      { file: `far${tail(1)}`, reason: 'the first part is missing' },
    ]);
  });
});

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { builtInFolder } from './built-in.ts';
import { ModelLibrary } from './library.ts';
import { diskBytes, mountDisk, openGround, readRandomModel, sha256 } from './testing.ts';

let content: Buffer;
let elsewhere: string;
let model: string;
beforeAll(async () => {
  content = await readRandomModel();
  elsewhere = await mkdtemp(join(tmpdir(), 'ennead-elsewhere-'));
  model = join(elsewhere, 'Some-Model.gguf');
  await writeFile(model, content);
});
afterAll(() => rm(elsewhere, { recursive: true }));

describe('what is refused', () => {
  test.each(['../evil', '/etc/passwd', 'a//b', 'a:b:c', '.hidden', 'a/../b', 'x'.repeat(300), 'ü'])(
    'the name "%.20s" for a model that is added',
    async (name) => {
      await using ground = await openGround();
      await expect(ground.library.add(model, { name })).rejects.toMatchObject({ code: 'invalid' });
      expect(await readdir(ground.folder)).toEqual([]);
    },
  );

  test('a name that leads out of the folder finds nothing and deletes nothing', async () => {
    await using ground = await openGround();
    const name = `../${elsewhere.split('/').at(-1)}/Some-Model`;
    await expect(ground.library.delete(name)).rejects.toMatchObject({
      code: 'not_found',
      reason: 'model_not_found',
    });
    expect((await stat(model)).size).toBe(content.length);
  });

  test('adding a file that is not there, a folder, or no model', async () => {
    await using ground = await openGround();
    const text = join(elsewhere, 'text.gguf');
    await writeFile(text, 'not a model');
    await expect(ground.library.add(elsewhere)).rejects.toThrow('does not end in .gguf');
    await expect(ground.library.add(join(elsewhere, 'none.gguf'))).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(ground.library.add(elsewhere, { name: 'x' })).rejects.toMatchObject({
      code: 'invalid',
    });
    await expect(ground.library.add(text)).rejects.toMatchObject({ reason: 'bad_model_file' });
    expect(await ground.library.list()).toEqual([]);
  });

  test('adding a second model of one name', async () => {
    await using ground = await openGround();
    await ground.library.add(model);
    await expect(ground.library.add(model)).rejects.toMatchObject({ reason: 'model_exists' });
  });

  test.each(['ennead-embed', 'ENNEAD-EMBED:v2', 'Ennead-Tiny', 'ennead-tiny:latest'])(
    'adding a model as %s, the name of what came with Ennead',
    async (name) => {
      await using ground = await openGround();
      const { folder } = ground;
      await using library = new ModelLibrary({ folder, builtInFolder, log: silentLog });
      await expect(library.add(model, { name })).rejects.toMatchObject({
        code: 'conflict',
        reason: 'model_built_in',
      });
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('adding what the disk has no space for, and nothing is left of it', async (context) => {
    await using disk = await mountDisk();
    if (!disk) {
      context.skip('only root can mount a small disk');
      return;
    }
    await using ground = await openGround({ folder: join(disk.path, 'models') });
    await ground.library.prepare();
    const near = join(disk.path, 'near.gguf');
    await writeFile(near, content);
    await writeFile(join(disk.path, 'filler'), Buffer.alloc(diskBytes)).catch(() => {});
    const refusal = { code: 'unavailable', reason: 'disk_full', status: 507 };
    await expect(ground.library.add(model)).rejects.toMatchObject({
      ...refusal,
      detail: { needed: content.length, free: 0 },
    });
    await expect(ground.library.add(near)).rejects.toMatchObject({
      ...refusal,
      detail: { needed: expect.any(Number) as number, free: 0 },
    });
    expect(await readdir(ground.folder)).toEqual([]);
  });

  test('deleting what came with Ennead', async () => {
    await using ground = await openGround();
    const { folder } = ground;
    await using library = new ModelLibrary({ folder, builtInFolder, log: silentLog });
    for (const name of ['ennead-tiny', 'Ennead-Embed']) {
      await expect(library.delete(name)).rejects.toMatchObject({
        code: 'conflict',
        reason: 'model_built_in',
      });
    }
    expect(await library.find('ennead-tiny')).toMatchObject({ isBuiltIn: true });
  });
});

describe('a model', () => {
  test('that is put into the folder by hand is seen, and its digest is found out', async () => {
    await using ground = await openGround();
    await writeFile(join(ground.folder, 'by-hand@v1.gguf'), content);
    const [found] = await ground.library.list();
    expect(found).toMatchObject({ name: 'by-hand:v1', bytes: content.length, family: 'llama' });
    await expect.poll(async () => (await ground.library.list())[0]?.digest).toBe(sha256(content));
    const manifest: unknown = JSON.parse(
      await readFile(join(ground.folder, 'by-hand@v1.gguf.json'), 'utf8'),
    );
    expect(manifest).toMatchObject({ name: 'by-hand:v1', digest: sha256(content) });
  });

  test('whose file is replaced does not keep the old digest', async () => {
    await using ground = await openGround();
    const path = join(ground.folder, 'changed.gguf');
    await writeFile(path, content);
    await ground.library.digestOf(await ground.library.find('changed'));
    const other = Buffer.concat([content, Buffer.alloc(64, 1)]);
    await writeFile(`${path}.new`, other);
    await rename(`${path}.new`, path);
    expect(await ground.library.digestOf(await ground.library.find('changed'))).toBe(sha256(other));
  });

  test('is found whatever the case, with and without the tag "latest"', async () => {
    await using ground = await openGround();
    await ground.library.add(model);
    for (const name of ['Some-Model', 'some-model', 'some-model:latest', 'SOME-MODEL:LATEST']) {
      expect(await ground.library.find(name)).toMatchObject({ name: 'Some-Model' });
    }
    await expect(ground.library.find('some-model:1b')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('that is added is the same file under a second name', async () => {
    await using ground = await openGround();
    const added = await ground.library.add(model, { name: 'mine/some:1m' });
    expect(added).toMatchObject({ name: 'mine/some:1m', source: model, digest: sha256(content) });
    expect((await stat(added.path)).ino).toBe((await stat(model)).ino);
    await ground.library.delete('mine/some:1m');
    expect(await readdir(ground.folder)).toEqual([]);
    expect((await stat(model)).size).toBe(content.length);
  });

  test('that is added by reference stays where it is, also when it is deleted', async () => {
    await using ground = await openGround();
    await ground.library.add(model, { isReference: true });
    expect(await ground.library.list()).toHaveLength(1);
    await ground.library.delete('Some-Model');
    expect(await ground.library.list()).toEqual([]);
    expect((await stat(model)).size).toBe(content.length);
  });
});

describe('a listing', () => {
  test('passes over folders, notes and later parts of a split model', async () => {
    await using ground = await openGround();
    await mkdir(join(ground.folder, 'folder.gguf'));
    await writeFile(join(ground.folder, 'notes.txt'), 'notes');
    await writeFile(join(ground.folder, 'half.gguf.part'), content);
    await writeFile(join(ground.folder, 'big-00002-of-00002.gguf'), content);
    await writeFile(join(ground.folder, 'big-00001-of-00002.gguf'), content);
    expect((await ground.library.list()).map(({ name }) => name)).toEqual(['big']);
    await ground.library.delete('big');
    expect(await readdir(ground.folder)).not.toContain('big-00002-of-00002.gguf');
  });

  test('has a reference whose target is gone last, and it can be deleted', async () => {
    await using ground = await openGround();
    const target = join(elsewhere, 'passing.gguf');
    await writeFile(target, content);
    await ground.library.add(target, { name: 'a-reference', isReference: true });
    await ground.library.add(model, { name: 'sound' });
    await rm(target);
    const lastOf = async () => (await ground.library.list()).at(-1);
    await expect.poll(async () => (await lastOf())?.name).toBe('a-reference');
    expect(await lastOf()).toMatchObject({ name: 'a-reference', bytes: 0, capabilities: [] });
    await expect(ground.library.add(model, { name: 'a-reference' })).rejects.toMatchObject({
      reason: 'model_exists',
    });
    await ground.library.delete('a-reference');
    await ground.library.add(model, { name: 'a-reference' });
    expect(await ground.library.list()).toHaveLength(2);
  });

  test('has one file of those that differ in case only, and none without a sound name', async () => {
    await using ground = await openGround();
    for (const file of ['zz', 'ZZ', 'zz@latest', 'bad name!', 'ennead-embed'])
      await writeFile(join(ground.folder, `${file}.gguf`), content);
    expect((await ground.library.list()).map(({ name }) => name)).toEqual(['ZZ']);
    expect(await ground.library.strays()).toEqual([
      { file: 'bad name!.gguf', reason: 'its name cannot be a model name' },
      { file: 'ennead-embed.gguf', reason: 'its name is reserved' },
      { file: 'zz.gguf', reason: 'ZZ.gguf has the same name' },
      { file: 'zz@latest.gguf', reason: 'ZZ.gguf has the same name' },
    ]);
  });

  test('has the default first, then trained ones, then ours, then what cannot be used', async () => {
    await using ground = await openGround();
    const ours = join(elsewhere, 'built-in');
    await mkdir(ours);
    await writeFile(join(ours, 'ours.gguf'), content);
    await writeFile(join(ours, 'b.gguf'), content);
    await writeFile(join(ground.folder, 'broken.gguf'), 'broken');
    for (const name of ['c', 'a']) await ground.library.add(model, { name });
    // Put there by hand, it goes before ours of that name.
    await writeFile(join(ground.folder, 'b.gguf'), content);
    const { folder } = ground;
    const options = { folder, builtInFolder: ours, defaultName: 'C:latest', log: silentLog };
    await using library = new ModelLibrary(options);
    const models = await library.list();
    expect(models.map(({ name }) => name)).toEqual(['c', 'a', 'b', 'ours', 'broken']);
    expect(await library.find(undefined)).toMatchObject({ name: 'c' });
    await expect(library.delete('ours')).rejects.toMatchObject({ reason: 'model_built_in' });
    await library.delete('b');
    expect(await library.find('b')).toMatchObject({ isBuiltIn: true });
  });

  test('a default that is not installed is named', async () => {
    await using ground = await openGround();
    const { folder } = ground;
    await using library = new ModelLibrary({ folder, defaultName: 'gone', log: silentLog });
    await expect(library.find(undefined)).rejects.toThrow('there is no model gone');
  });

  test('where none was put there is the one that came with Ennead', async () => {
    await using ground = await openGround();
    const { folder } = ground;
    await using library = new ModelLibrary({ folder, builtInFolder, log: silentLog });
    expect(await library.find(undefined)).toMatchObject({ name: 'ennead-tiny', isBuiltIn: true });
  });
});

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStudio } from '../testing.ts';
import { openTestFiles } from './testing.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;

beforeAll(async () => {
  studio = await startStudio({ environment: { STUDIO_FILE_BYTES_MAX: '100000' } });
});
afterAll(() => studio[Symbol.asyncDispose]());

/** A workspace of Ada's and what calls its files. */
async function openWorkspace(settings: object = {}) {
  const ada = await studio.callAs('usr_ada');
  const { body } = await ada('POST', '/api/v1/workspaces', { name: 'Hazards', settings });
  const base = `/api/v1/workspaces/${body.id}/files`;
  const token = await studio.tokenOf('usr_ada');
  const put = (path: string, content: string, headers: Record<string, string> = {}) =>
    fetch(`${studio.url}${base}/${path}`, {
      method: 'PUT',
      body: content,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${studio.url}${base}/${path}`, { headers });
    return { status: response.status, text: await response.text() };
  };
  const change = (path: string, wanted: object) => ada('POST', `${base}/${path}`, wanted);
  const force = async () => {
    const answer = await ada('POST', '/api/v1/sync/force', { workspaceId: body.id });
    return { status: answer.status, ...answer.body.workspaces?.[0] };
  };
  const paths = async () =>
    (await ada('GET', base)).body.files.map(({ path }: { path: string }) => path);
  const remove = () => ada('DELETE', `/api/v1/workspaces/${body.id}`);
  return {
    id: body.id as string,
    root: body.path as string,
    put,
    get,
    change,
    force,
    paths,
    remove,
  };
}

describe('A file that is moved', () => {
  test('onto itself stays', async () => {
    const { put, get, change } = await openWorkspace();
    await put('a.txt', 'kept');
    await change('a.txt', { operation: 'move', to: 'a.txt' });
    expect(await get('a.txt')).toEqual({ status: 200, text: 'kept' });
  });

  test('onto another of the same content is refused, and both stay', async () => {
    const { put, paths, change } = await openWorkspace();
    await put('a.txt', 'same');
    await put('b.txt', 'same');
    expect((await change('a.txt', { operation: 'move', to: 'b.txt' })).status).toBe(409);
    expect(await paths()).toEqual(['a.txt', 'b.txt']);
  });
});

describe('A file whose name changes', () => {
  test('in case alone goes on under the new one, on disk too', async () => {
    const { root, put, get, paths, change, force } = await openWorkspace();
    await put('src/Read.me', 'kept');
    const moved = await change('src/Read.me', { operation: 'move', to: 'src/read.ME' });
    expect([moved.status, moved.body.outcome]).toEqual([200, 'applied']);
    expect(await paths()).toEqual(['src/read.ME']);
    expect(await readdir(join(root, 'src'))).toEqual(['read.ME']);
    expect(await get('src/read.ME')).toEqual({ status: 200, text: 'kept' });
    await rename(join(root, 'src/read.ME'), join(root, 'src/README'));
    await put('src/other', 'other');
    await rename(join(root, 'src/README'), join(root, 'src/READ.me'));
    expect(await force()).toMatchObject({ changed: 2 });
    expect(await paths()).toEqual(['src/READ.me', 'src/other']);
  });

  test('is in one place at every moment, with its content and its bit', async () => {
    const { root, put, get, paths, change } = await openWorkspace({ quotaBytes: 6 });
    await put('from/run.sh?executable=true', 'echo 1');
    // It takes no more room than it did.
    const { body } = await change('from/run.sh', { operation: 'move', to: 'to/deep/run.sh' });
    expect(body).toMatchObject({ outcome: 'applied', seq: 3, file: { executable: true } });
    expect(await paths()).toEqual(['to/deep/run.sh']);
    expect(await readdir(root)).not.toContain('from');
    expect((await stat(join(root, 'to/deep/run.sh'))).mode & 0o111).not.toBe(0);
    expect(await get('to/deep/run.sh')).toEqual({ status: 200, text: 'echo 1' });
    expect((await change('to/deep/run.sh', { operation: 'copy', to: 'twin' })).status).toBe(413);
  });

  test('after a crash in the middle of it has the new one only', async () => {
    await using ground = await openTestFiles(studio.database);
    const { id, root, files, reopen } = ground;
    const content = Buffer.from('moved');
    await files.apply(id, { deviceId: 'd', path: 'old', content });
    const kept = { kept: createHash('sha256').update(content).digest('hex') };
    await files.apply(id, { deviceId: 'd', path: 'new', content: kept, movedFrom: 'old' });
    // As if the process had ended before the folder was changed.
    const isMarked = async () =>
      (await studio.database.query('select 1 from studio.files where not is_on_disk')).length === 0;
    await expect.poll(isMarked).toBe(true);
    await rename(join(root, 'new'), join(root, 'old'));
    await studio.database.query(
      'update studio.files set is_on_disk = false where workspace_id = $1',
      [id],
    );
    const again = await reopen();
    expect(await again.rescan(id)).toEqual({ changed: 0, files: 1 });
    expect(await readdir(root)).toEqual(expect.not.arrayContaining(['old']));
    expect(await readFile(join(root, 'new'), 'utf8')).toBe('moved');
  });
});

describe('A folder whose files others change', () => {
  test('keeps a file that got a second name', async () => {
    const { root, put, force, paths } = await openWorkspace();
    await put('a.txt', 'linked');
    await link(join(root, 'a.txt'), join(root, 'b.txt'));
    expect(await force()).toMatchObject({ status: 200, changed: 0 });
    expect(await paths()).toEqual(['a.txt']);
  });

  test('is not empty because it cannot be found', async () => {
    const { root, put, force, paths } = await openWorkspace();
    await put('a.txt', 'here');
    await rename(root, `${root}-away`);
    expect((await force()).status).toBe(503);
    expect(await paths()).toEqual(['a.txt']);
    await rename(`${root}-away`, root);
    expect(await force()).toMatchObject({ status: 200, changed: 0 });
  });

  test('is read on where one file of it cannot be kept', async () => {
    const { root, force, paths } = await openWorkspace({ quotaBytes: 10 });
    await writeFile(join(root, 'a-large'), Buffer.alloc(100_001));
    await writeFile(join(root, 'b-beyond'), 'more than ten bytes');
    await writeFile(join(root, 'c.txt'), 'c');
    expect((await force()).status).toBe(200);
    // What lies there takes its room whether it is known or not.
    expect(await paths()).toEqual(['b-beyond', 'c.txt']);
  });

  test('may hold anything in the place of its rules', async () => {
    const { root, force } = await openWorkspace();
    execFileSync('mkfifo', [join(root, '.enneadignore')]);
    expect(await force()).toMatchObject({ status: 200, changed: 0 });
    await rm(join(root, '.enneadignore'));
    await symlink('/dev/zero', join(root, '.enneadignore'));
    expect(await force()).toMatchObject({ status: 200, changed: 0 });
  });

  test('has no path that nobody can ask for', async () => {
    const { root, get, force, paths } = await openWorkspace();
    await writeFile(join(root, 'cafe\u0301.txt'), 'decomposed');
    await force();
    for (const path of await paths()) {
      expect((await get(encodeURIComponent(path))).status).toBe(200);
    }
  });

  test('leads nothing out of it through its own folder', async () => {
    const { root, put } = await openWorkspace();
    const outside = `${root}-outside`;
    await mkdir(outside);
    await symlink(outside, join(root, '.ennead'));
    const before = (await stat(outside)).mtimeMs;
    await put('a.txt', 'inside');
    expect(await readFile(join(root, 'a.txt'), 'utf8').catch(() => 'none')).toBe('inside');
    expect((await stat(outside)).mtimeMs).toBe(before);
  });
});

describe('A content that nothing names', () => {
  test('stays while somebody is about to name it, and goes otherwise', async () => {
    await using ground = await openTestFiles(studio.database);
    const { id, files } = ground;
    const content = Buffer.from('raced for');
    const hash = createHash('sha256').update(content).digest('hex');
    const refused = { deviceId: 'd', baseHash: 'f'.repeat(64), isStrict: true, content };
    // Refused and taken at the same time, again and again.
    for (let round = 0; round < 10; round += 1) {
      const outcomes = await Promise.all([
        files.applyAll(id, [{ ...refused, path: `refused-${round}` }]),
        files.applyAll(id, [{ deviceId: 'd', path: `taken-${round}`, content }]),
        files.applyAll(id, [{ ...refused, path: `refused-too-${round}` }]),
      ]);
      expect(outcomes[1]?.[0]).toMatchObject({ outcome: 'applied' });
      const { open } = await files.readKept(id, hash);
      expect((await buffer(open())).equals(content)).toBe(true);
    }
  });
});

describe('A content that several workspaces hold', () => {
  test('stays when one of them goes, though the change that made it is forgotten', async () => {
    const [one, other] = [await openWorkspace(), await openWorkspace()];
    await one.put('a.txt', 'shared by two');
    await other.put('a.txt', 'shared by two');
    expect((await one.get('a.txt')).status).toBe(200);
    await studio.database.query('delete from studio.file_changes where workspace_id = $1', [
      one.id,
    ]);
    await other.remove();
    expect(await one.get('a.txt')).toEqual({ status: 200, text: 'shared by two' });
  });
});

test('of writers who changed the same version, one is taken and the others hear that they were late', async () => {
  const { put, paths } = await openWorkspace();
  await put('a.txt', 'base');
  const headers = { 'if-none-match': '*' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => put('new.txt', `writer ${index}`, headers)),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([201, 412, 412, 412, 412, 412, 412, 412]);
  expect(await paths()).toEqual(['a.txt', 'new.txt']);
});

test('of a refused write nothing stays on disk', async () => {
  const { root, put } = await openWorkspace({ quotaBytes: 5 });
  expect((await put('a.txt', 'far more than five bytes')).status).toBe(413);
  const blobs = join(dirname(dirname(root)), 'studio', 'blobs');
  const hash = createHash('sha256').update('far more than five bytes').digest('hex');
  await expect(stat(join(blobs, hash.slice(0, 2), hash.slice(2)))).rejects.toThrow('ENOENT');
});

test('a batch of which one content cannot be kept leaves nothing, and is stored whole once it can', async () => {
  await using ground = await openTestFiles(studio.database);
  const { id, root, files } = ground;
  const blobs = join(dirname(root), 'blobs');
  const texts = Array.from({ length: 30 }, (_, index) => `text ${index % 20}`);
  const batch = texts.map((text, index) => ({
    deviceId: 'd',
    path: `folder-${index % 3}/${index}.txt`,
    content: Buffer.from(text),
  }));
  const inTheWay = join(blobs, createHash('sha256').update('text 7').digest('hex').slice(0, 2));
  await writeFile(inTheWay, 'no folder');
  await expect(files.applyAll(id, batch)).rejects.toThrow('EEXIST');
  expect(await readdir(join(blobs, 'staging'))).toEqual([]);
  expect(await readdir(root, { recursive: true })).toEqual(['.ennead']);
  await rm(inTheWay);
  const outcomes = await files.applyAll(id, batch);
  expect(outcomes.map((one) => 'outcome' in one && one.outcome)).toEqual(
    texts.map(() => 'applied'),
  );
  expect(await readdir(join(blobs, 'staging'))).toEqual([]);
  for (const { path, content } of batch) {
    expect(await readFile(join(root, path))).toEqual(content);
    expect((await stat(join(root, path))).mode & 0o777).toBe(0o644);
    const { open } = await files.read(id, path);
    expect(await buffer(open())).toEqual(content);
  }
});

test.skipIf(process.platform !== 'linux')(
  'a file of the folder that cannot be kept is closed again',
  async () => {
    await using ground = await openTestFiles(studio.database);
    const { id, root, files } = ground;
    await rm(join(dirname(root), 'blobs', 'staging'), { recursive: true });
    await writeFile(join(root, 'a.txt'), 'made in the folder');
    await files.rescan(id);
    const names = await readdir('/proc/self/fd');
    const open = await Promise.all(
      names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
    );
    expect(open).not.toContain(join(root, 'a.txt'));
  },
);

test('a file whose content is not in the data folder is said to be lost, until it is written again', async () => {
  const { root, get, put } = await openWorkspace();
  const text = 'kept nowhere else';
  await put('a.txt', text);
  const hash = createHash('sha256').update(text).digest('hex');
  const blobs = join(dirname(dirname(root)), 'studio', 'blobs');
  await rm(join(blobs, hash.slice(0, 2), hash.slice(2)));
  const lost = await get('a.txt');
  expect(lost).toMatchObject({ status: 503, text: expect.stringContaining('CONTENT_LOST') });
  await put('a.txt', text);
  expect(await get('a.txt')).toEqual({ status: 200, text });
});

test('after a crash what was stored is in the folder, and what was put there since stays', async () => {
  await using ground = await openTestFiles(studio.database);
  const { id, root, files, reopen } = ground;
  const contents = { behind: 'old', edited: 'old', lost: 'new' };
  for (const [path, text] of Object.entries(contents)) {
    await files.apply(id, { deviceId: 'd', path, content: Buffer.from(text) });
  }
  for (const path of ['behind', 'edited']) {
    await files.apply(id, { deviceId: 'd', path, content: Buffer.from('new') });
  }
  const isMarked = async () =>
    (await studio.database.query('select 1 from studio.files where not is_on_disk')).length === 0;
  await expect.poll(isMarked).toBe(true);
  // As if the process had ended between the log and the folder.
  await studio.database.query(
    'update studio.files set is_on_disk = false where workspace_id = $1',
    [id],
  );
  await writeFile(join(root, 'behind'), 'old');
  await writeFile(join(root, 'edited'), 'by hand');
  await rm(join(root, 'lost'));
  const again = await reopen();
  await again.find(id, 'behind');
  await again.rescan(id);
  const held = ['behind', 'edited', 'lost'].map((path) => readFile(join(root, path), 'utf8'));
  expect(await Promise.all(held)).toEqual(['new', 'by hand', 'new']);
});

describe('Deletions that are killed before they are stored', () => {
  const killed = async (ground: Awaited<ReturnType<typeof openTestFiles>>) => {
    const { id, files, startOn } = ground;
    for (const path of ['a', 'b', 'kept']) {
      await files.apply(id, { deviceId: 'd', path, content: Buffer.from(path) });
    }
    const dead = new Proxy(studio.database, {
      get: (target, name) => {
        const query = (text: string, values?: readonly unknown[]) =>
          text.includes('insert into studio.file_changes')
            ? Promise.reject(new Error('killed'))
            : target.query(text, values);
        return name === 'query' ? query : Reflect.get(target, name, target);
      },
    });
    const dying = await startOn(dead);
    const wanted = ['a', 'b'].map((path) => ({ deviceId: 'd', path }));
    for (const outcome of await dying.applyAll(id, wanted)) expect(outcome).toBeInstanceOf(Error);
  };

  test('are in the log too when the next start has opened the workspace', async () => {
    await using ground = await openTestFiles(studio.database);
    const { id, root, reopen } = ground;
    await killed(ground);
    expect((await readdir(root)).filter((name) => name !== '.ennead')).toEqual(['kept']);
    const again = await reopen();
    const held = await again.list(id, { limit: 10 });
    expect(held.map(({ path }) => path)).toEqual(['kept']);
    expect((await readdir(root)).filter((name) => name !== '.ennead')).toEqual(['kept']);
  });

  test('leave log and folder alike also where the note of them is not whole', async () => {
    await using ground = await openTestFiles(studio.database);
    const { id, root, reopen } = ground;
    await killed(ground);
    const [note = ''] = await readdir(join(root, '.ennead'));
    await writeFile(join(root, '.ennead', note), '["a",');
    const again = await reopen();
    // Nobody was told that the files were deleted: they may be, or be there again.
    const areAlike = async () => {
      const held = (await again.list(id, { limit: 10 })).map(({ path }) => path);
      const there = (await readdir(root)).filter((name) => name !== '.ennead');
      return held.length > 0 && held.join() === there.toSorted().join();
    };
    await expect.poll(areAlike).toBe(true);
  });
});

describe('A name that is too long', () => {
  test('beside what lies above the workspace is refused, not stored and lost', async () => {
    const { root, put, paths } = await openWorkspace();
    const room = 4_096 - Buffer.byteLength(root) - 1;
    const folders = `${'p'.repeat(200)}/`.repeat(Math.floor(room / 201));
    const fits = `${folders}${'q'.repeat(room - folders.length - 1)}`;
    expect((await put(`${fits}q`, 'lost')).status).toBe(400);
    expect((await put(fits, 'kept')).status).toBe(201);
    expect(await paths()).toEqual([fits]);
  });

  test.each(['日'.repeat(83), `${'a'.repeat(119)}${'😀'.repeat(20)}.t`, `x.${'日'.repeat(80)}`])(
    'does not keep the loser of a conflict from its place',
    async (name) => {
      await using own = await openTestFiles(studio.database);
      const wanted = { deviceId: 'd', path: name, baseHash: null };
      await own.files.apply(own.id, { ...wanted, content: Buffer.from('first') });
      const { outcome, conflictCopy } = await own.files.apply(own.id, {
        ...wanted,
        content: Buffer.from('second'),
      });
      expect(outcome).toBe('conflict');
      expect(await readFile(join(own.root, conflictCopy?.path ?? ''), 'utf8')).toBe('second');
    },
  );
});

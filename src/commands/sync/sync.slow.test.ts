import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startStudio } from '../../studio/testing.ts';
import { accessStudio } from './studio-access.ts';
import { SyncFolder } from './sync-folder.ts';
import { follow } from './sync-follow.ts';
import { SyncIndex } from './sync-index.ts';
import { SyncRun } from './sync-run.ts';

let studio: Awaited<ReturnType<typeof startStudio>>;
let root: string;
let count = 0;
const running: (() => Promise<void>)[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ennead-sync-'));
  studio = await startStudio({
    environment: { RATE_LIMIT_STUDIO_PER_MINUTE: '100000', RATE_LIMIT_STUDIO_BURST: '100000' },
  });
});
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});
afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

async function makeWorkspace() {
  const ada = await studio.callAs('usr_ada');
  const { body } = await ada('POST', '/api/v1/workspaces', { name: 'Synchronised' });
  return body as { readonly id: string; readonly path: string };
}

/** A folder of a device's own; each `sync` is a process that begins anew. */
async function makeDevice(workspaceId: string) {
  count += 1;
  const path = join(root, `device-${count}`);
  const deviceId = `device-${count}`;
  await mkdir(path);
  const open = async (signal = new AbortController().signal) => {
    const access = accessStudio(studio.url, { token: () => studio.tokenOf('usr_ada') });
    const folder = await SyncFolder.open(path);
    const index = await SyncIndex.open(folder.root, workspaceId);
    const { files } = access;
    const common = { folder, workspaceId, deviceId, signal };
    return { common, access, run: new SyncRun({ ...common, files, index, onProgress: () => {} }) };
  };
  const sync = async () => {
    const { run } = await open();
    const isInStep = await run.settleAll();
    return {
      isInStep,
      isSettled: run.isSettled,
      ...run.counts,
      leftOut: Object.fromEntries(run.leftOut),
    };
  };
  const start = async () => {
    const stop = new AbortController();
    const { common, access, run } = await open(stop.signal);
    const ended = follow({ ...common, access, run, onSettled: () => {}, onBreak: () => {} });
    running.push(async () => {
      stop.abort();
      await ended;
    });
    return run;
  };
  const write = async (name: string, text: string) => {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), text);
  };
  return { path, sync, start, write, files: () => filesOf(path), open };
}

/** What a folder holds, but for what is its own. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile() && !one.parentPath.includes('.ennead'));
  const named = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries((await Promise.all(named)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function makePair() {
  const workspace = await makeWorkspace();
  return {
    workspace,
    one: await makeDevice(workspace.id),
    two: await makeDevice(workspace.id),
  };
}

describe('Two folders of one workspace', () => {
  test('hold the same after each was changed while the other was away', async () => {
    const { workspace, one, two } = await makePair();
    await one.write('src/a b%20ä.txt', 'first');
    await one.write('empty', '');
    await writeFile(join(one.path, 'run.sh'), 'echo', { mode: 0o755 });
    expect(await one.sync()).toMatchObject({ isInStep: true, sent: 3 });
    expect(await two.sync()).toMatchObject({ isInStep: true, received: 3, sent: 0 });
    expect((await stat(join(two.path, 'run.sh'))).mode & 0o111).not.toBe(0);
    await one.write('src/a b%20ä.txt', 'second');
    await rm(join(one.path, 'empty'));
    await two.write('new/deep/file', 'from two');
    await chmod(join(two.path, 'run.sh'), 0o644);
    expect(await one.sync()).toMatchObject({ isInStep: true, sent: 1, deletedThere: 1 });
    expect(await two.sync()).toMatchObject({ sent: 2, received: 1, deletedHere: 1 });
    expect(await one.sync()).toMatchObject({ isInStep: true, received: 2 });
    const expected = { 'new/deep/file': 'from two', 'run.sh': 'echo', 'src/a b%20ä.txt': 'second' };
    expect(await one.files()).toEqual(expected);
    expect(await two.files()).toEqual(expected);
    expect(await filesOf(workspace.path)).toEqual(expected);
    expect((await stat(join(one.path, 'run.sh'))).mode & 0o111).toBe(0);
  });

  test('both keep both contents of a file that both have changed', async () => {
    const { one, two } = await makePair();
    await one.write('a.txt', 'base');
    await one.sync();
    await two.sync();
    await one.write('a.txt', 'of one');
    await two.write('a.txt', 'of two');
    await one.sync();
    expect(await two.sync()).toMatchObject({ isInStep: true, conflicts: 1 });
    await one.sync();
    const files = await two.files();
    expect(Object.values(files).toSorted()).toEqual(['of one', 'of two']);
    expect(files['a.txt']).toBe('of one');
    expect(Object.keys(files)[0]).toMatch(/^a\.sync-conflict-\d{8}-\d{6}-device-\d+\.txt$/);
    expect(await one.files()).toEqual(files);
  });

  test('keep a file that one has changed and the other deleted', async () => {
    const { one, two } = await makePair();
    await one.write('a.txt', 'a');
    await one.write('b.txt', 'b');
    await one.sync();
    await two.sync();
    await rm(join(one.path, 'a.txt'));
    await rm(join(two.path, 'b.txt'));
    await two.write('a.txt', 'edited by two');
    await one.write('b.txt', 'edited by one');
    await one.sync();
    await two.sync();
    await one.sync();
    const expected = { 'a.txt': 'edited by two', 'b.txt': 'edited by one' };
    expect(await one.files()).toEqual(expected);
    expect(await two.files()).toEqual(expected);
  });

  test('that begin with the same files send nothing and delete nothing', async () => {
    const { one, two } = await makePair();
    for (const device of [one, two]) await device.write('same.txt', 'same');
    await one.sync();
    expect(await two.sync()).toMatchObject({ isInStep: true, sent: 0, received: 0, conflicts: 0 });
    // Without the index nothing is known of what was, and nothing is taken for deleted.
    await rm(join(two.path, '.ennead'), { recursive: true });
    await rm(join(two.path, 'same.txt'));
    expect(await two.sync()).toMatchObject({ received: 1, deletedThere: 0 });
  });

  test('are in step only when all was done, not when it was stopped before', async () => {
    const { one, two } = await makePair();
    for (const name of ['a', 'b', 'c']) await one.write(name, name);
    await one.sync();
    const stopping = new AbortController();
    const { run } = await two.open(stopping.signal);
    const stopped = run.settleAll();
    stopping.abort();
    expect(await stopped).toBe(false);
    expect(run.isSettled).toBe(false);
    expect(await two.sync()).toMatchObject({ isInStep: true, isSettled: true });
    expect(await two.files()).toEqual(await one.files());
  });

  test('are in step within moments while both are followed', async () => {
    const { workspace, one, two } = await makePair();
    await one.start();
    await two.start();
    await one.write('one.txt', '1');
    await expect.poll(() => two.files()).toEqual({ 'one.txt': '1' });
    await two.write('one.txt', '2');
    await expect.poll(() => one.files()).toEqual({ 'one.txt': '2' });
    await writeFile(join(workspace.path, 'agent.txt'), 'by an agent');
    const both = { 'agent.txt': 'by an agent', 'one.txt': '2' };
    await expect.poll(() => one.files()).toEqual(both);
    await expect.poll(() => two.files()).toEqual(both);
    await rm(join(one.path, 'one.txt'));
    await expect.poll(() => two.files()).toEqual({ 'agent.txt': 'by an agent' });
  });

  test('that is followed goes by its new rules at once', async () => {
    const { workspace, one } = await makePair();
    await one.write('.enneadignore', '*.log\n');
    await one.write('old.log', 'old');
    await one.start();
    const names = async () => Object.keys(await filesOf(workspace.path));
    for (const name of ['begun', 'followed']) {
      await one.write(name, name);
      await expect.poll(names).toContain(name);
    }
    await one.write('.enneadignore', '*.key\n');
    await expect.poll(names).toContain('old.log');
    await one.write('secret.key', 'secret');
    await one.write('seen', 'seen');
    await expect.poll(names).toContain('seen');
    expect(await names()).not.toContain('secret.key');
  });

  test('end with the same, and lose nothing, when both write the same file at once', async () => {
    const { one, two } = await makePair();
    await one.start();
    await two.start();
    await one.write('a.txt', 'base');
    await expect.poll(() => two.files()).toEqual({ 'a.txt': 'base' });
    await Promise.all([one.write('a.txt', 'of one'), two.write('a.txt', 'of two')]);
    const contents = async () => Object.values(await one.files()).toSorted();
    await expect.poll(contents).toEqual(['of one', 'of two']);
    await expect
      .poll(async () => JSON.stringify(await two.files()))
      .toBe(JSON.stringify(await one.files()));
  });
});

describe('A folder', () => {
  test('is written to through no link, and what is behind one is not sent', async () => {
    const { one, two } = await makePair();
    const outside = join(root, `outside-${count}`);
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'secret');
    await symlink(outside, join(two.path, 'linked'));
    await symlink(join(outside, 'secret'), join(two.path, 'file'));
    execFileSync('mkfifo', [join(two.path, 'pipe')]);
    await one.write('linked/new', 'from one');
    await one.write('file', 'from one');
    await one.sync();
    const { isInStep, sent, leftOut } = await two.sync();
    expect({ isInStep, sent }).toEqual({ isInStep: false, sent: 0 });
    expect(Object.keys(leftOut).toSorted()).toEqual(['file', 'linked', 'linked/new', 'pipe']);
    expect(await filesOf(outside)).toEqual({ secret: 'secret' });
  });

  test('that is away is not taken for an empty one', async () => {
    const { one } = await makePair();
    await one.write('a.txt', 'a');
    await one.sync();
    const { run } = await one.open();
    await rename(one.path, `${one.path}-away`);
    await expect(run.settleAll()).rejects.toThrow('is not there');
    await rename(`${one.path}-away`, one.path);
    expect(await one.sync()).toMatchObject({ isInStep: true, deletedThere: 0 });
  });

  test('leaves alone what its rules name, and follows one workspace only', async () => {
    const { workspace, one, two } = await makePair();
    await one.write('.enneadignore', '*.log\nbuild/\n');
    await one.write('a.log', 'log');
    await one.write('build/out', 'out');
    await one.write('.git/config', 'git');
    await one.write('kept', 'kept');
    await one.sync();
    const expected = { '.enneadignore': '*.log\nbuild/\n', kept: 'kept' };
    expect(await filesOf(workspace.path)).toEqual(expected);
    await two.sync();
    expect(await two.files()).toEqual(expected);
    const other = await makeWorkspace();
    await expect(SyncIndex.open(one.path, other.id)).rejects.toThrow('already');
  });

  test('leaves out a file that the workspace cannot have, and syncs the others', async () => {
    const { one } = await makePair();
    await one.write('Case', '1');
    await one.write('case', '2');
    await one.write('other', '3');
    const { isInStep, leftOut } = await one.sync();
    expect(isInStep).toBe(false);
    expect(Object.values(leftOut)).toEqual([expect.stringContaining('cannot both be there')]);
  });

  test('names what it cannot send for its name, and why', async () => {
    const { one } = await makePair();
    await one.write('.enneadignore', 'ignored:*\n');
    const flawed = ['CON/a', 'a:b', 'dot.', 'gru\u0308n'];
    for (const name of [...flawed, 'ignored:c', 'grün']) await one.write(name, name);
    const { isInStep, sent, leftOut } = await one.sync();
    expect({ isInStep, sent }).toEqual({ isInStep: false, sent: 2 });
    expect(leftOut).toEqual({
      CON: expect.stringContaining('Windows'),
      'a:b': expect.stringContaining('it holds one of'),
      'dot.': expect.stringContaining('ends with'),
      'gru\u0308n': expect.stringContaining('NFC'),
    });
    for (const name of ['CON', ...flawed.slice(1)]) {
      await rm(join(one.path, name), { recursive: true });
    }
    expect(await one.sync()).toMatchObject({ isInStep: true, leftOut: {} });
  });
});

test('two thousand files are sent by one folder, and taken by another', async () => {
  const { workspace, one, two } = await makePair();
  for (let index = 0; index < 2_000; index += 1) {
    await one.write(`folder-${index % 20}/file-${index}`, `content of ${index}`);
  }
  expect(await one.sync()).toMatchObject({ isInStep: true, sent: 2_000 });
  expect(await two.sync()).toMatchObject({ isInStep: true, received: 2_000 });
  expect(await two.files()).toEqual(await filesOf(workspace.path));
  expect(await two.sync()).toMatchObject({ isInStep: true, sent: 0, received: 0 });
}, 180_000);

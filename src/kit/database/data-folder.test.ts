import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from './data-folder.ts';
import { spawnModule, type ModuleProcess } from './testing.ts';

const lockAndSay = `
  const { lockDataFolder } = await open('./data-folder.ts');
  await lockDataFolder(parameters[0]).then(() => print('won'), (error) => print(error.message));
`;

let parent: string;
let folder: string;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'ennead-folder-test-'));
});

beforeEach(async () => {
  folder = await mkdtemp(join(parent, 'case-'));
});

afterAll(() => rm(parent, { recursive: true, force: true }));

describe('a data folder', () => {
  it('that is a file is refused', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(lockDataFolder(file)).rejects.toThrow(
      `the data folder ${file} is not a directory`,
    );
    await expect(lockDataFolder(join(file, 'below'))).rejects.toMatchObject({ code: 'invalid' });
  });

  it.skipIf(process.getuid?.() === 0)('that is not writable is refused', async () => {
    await chmod(folder, 0o500);
    await expect(lockDataFolder(folder)).rejects.toThrow(/is not writable \(EACCES\)/);
  });

  it('is created for its owner alone', async () => {
    const fresh = join(folder, 'a', 'b');
    const lock = await lockDataFolder(fresh);
    expect((await stat(fresh)).mode & 0o777).toBe(0o700);
    await lock[Symbol.asyncDispose]();
  });

  it('is refused while this process holds it, and free afterwards', async () => {
    const lock = await lockDataFolder(folder);
    const message = `the data folder ${folder} is in use by process ${process.pid} on ${hostname()}`;
    await expect(lockDataFolder(folder)).rejects.toThrow(message);
    await expect(lockDataFolder(folder)).rejects.toMatchObject({
      code: 'conflict',
      detail: { pid: process.pid },
    });
    await lock[Symbol.asyncDispose]();
    const again = await lockDataFolder(folder);
    await again[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual([]);
  });

  it('that a live process holds is refused, and taken over at once when it is killed', async () => {
    const child = spawnModule(lockAndSay + 'setInterval(() => {}, 1000);', [folder]);
    expect(await readLine(child)).toBe('won');
    await expect(lockDataFolder(folder)).rejects.toThrow(`in use by process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await lockDataFolder(folder);
    expect(await readLock()).toMatchObject({ pid: process.pid });
    await lock[Symbol.asyncDispose]();
  });

  it('whose holder died and whose pid another process got is taken over', async () => {
    const lock = await lockDataFolder(folder);
    const reused = { ...(await readLock()), processStart: '1', token: anotherToken };
    await writeFile(join(folder, 'lock'), JSON.stringify(reused));
    await lock[Symbol.asyncDispose]();
    // Without /proc a live pid is all there is to go by.
    const isRecognised = process.platform === 'linux';
    const attempt = lockDataFolder(folder);
    if (!isRecognised) return expect(attempt).rejects.toMatchObject({ code: 'conflict' });
    await (await attempt)[Symbol.asyncDispose]();
  });

  it('held from another host is refused once its holder shows itself, and taken over 30 s after it last did', async () => {
    await writeForeignLock(0);
    const attempt = lockDataFolder(folder);
    const touches = setInterval(() => void age(join(folder, 'lock'), 0), 100);
    await expect(attempt).rejects.toThrow('in use by process 1 on elsewhere');
    clearInterval(touches);
    await writeForeignLock(29.9);
    const waits: unknown[] = [];
    const lock = await lockDataFolder(folder, { onWait: ({ host }) => waits.push(host) });
    await lock[Symbol.asyncDispose]();
    expect(waits).toEqual(['elsewhere']);
  });

  it.skipIf(process.platform !== 'linux')(
    'held from another container under the same host name is no neighbour’s, whose pid would tell',
    async () => {
      const lock = await lockDataFolder(folder);
      const other = { ...(await readLock()), pidNamespace: 'pid:[1]', processStart: '1' };
      await writeFile(join(folder, 'lock'), JSON.stringify({ ...other, token: anotherToken }));
      await lock[Symbol.asyncDispose]();
      const touches = setInterval(() => void age(join(folder, 'lock'), 0), 100);
      await expect(lockDataFolder(folder)).rejects.toMatchObject({ code: 'conflict' });
      clearInterval(touches);
    },
  );

  it('whose lock lost its text to a power cut is taken over after 30 s', async () => {
    const file = join(folder, 'lock');
    await writeFile(file, '');
    await age(file, 29.9);
    await (await lockDataFolder(folder))[Symbol.asyncDispose]();
  });

  it('keeps the lock of whoever took it over when the former holder lets go', async () => {
    const lock = await lockDataFolder(folder);
    const taken = { ...(await readLock()), token: anotherToken };
    await writeFile(join(folder, 'lock'), JSON.stringify(taken));
    await lock[Symbol.asyncDispose]();
    expect(await readLock()).toEqual(taken);
  });

  it('is won by exactly one of many processes that find a dead lock at the same moment', async () => {
    await writeDeadLock();
    const folders = Array.from({ length: 12 }, (_, index) => join(folder, String(index)));
    for (const path of folders) await cp(join(folder, 'lock'), join(path, 'lock'));
    const text = `
      const { existsSync } = await import('node:fs');
      const { lockDataFolder } = await open('./data-folder.ts');
      print('ready');
      for (const folder of parameters) {
        while (!existsSync(folder + '.go'));
        await lockDataFolder(folder).then(() => print('won'), (error) => print(error.message));
      }
      setInterval(() => {}, 1000);
    `;
    const children = Array.from({ length: 6 }, () => spawnModule(text, folders));
    const readers = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]());
    const readAll = (): Promise<unknown[]> =>
      Promise.all(readers.map(async (reader) => (await reader.next()).value));
    try {
      await readAll();
      for (const path of folders) {
        await writeFile(`${path}.go`, '');
        const answers = (await readAll()).map(String);
        expect(answers.filter((answer) => answer === 'won')).toHaveLength(1);
        expect(answers.filter((answer) => answer.includes('in use by process'))).toHaveLength(5);
        expect(await readdir(path)).toEqual(['lock']);
      }
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  });
});

const anotherToken = '00000000-0000-4000-8000-000000000000';

async function readLock(): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(folder, 'lock'), 'utf8')) as Record<string, unknown>;
}

/** A lock such as a process leaves that is killed: it has exited and was waited for. */
async function writeDeadLock(): Promise<void> {
  const child = spawnModule(lockAndSay, [folder]);
  await once(child, 'exit');
  expect(await readLock()).toMatchObject({ pid: child.pid });
}

async function writeForeignLock(ageSeconds: number): Promise<void> {
  const holder = { pid: 1, host: 'elsewhere', lockedAt: 'today', token: anotherToken };
  await writeFile(join(folder, 'lock'), JSON.stringify(holder));
  await age(join(folder, 'lock'), ageSeconds);
}

async function age(file: string, seconds: number): Promise<void> {
  const time = new Date(Date.now() - seconds * 1000);
  await utimes(file, time, time);
}

async function readLine(child: ModuleProcess): Promise<string | undefined> {
  for await (const line of createInterface(child.stdout)) return line;
  return undefined;
}

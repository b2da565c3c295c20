import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { startEnnead, temporaryFolder } from '../ennead.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;

beforeAll(async () => {
  folder = await temporaryFolder();
  variables = {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(await freePortBase()),
  };
});

afterAll(() => folder.remove());

test.skipIf(process.platform === 'win32')(
  'SIGTERM to `npm start` reaches the suite, which ends with 0',
  async () => {
    const npm = spawn('npm', ['start'], { cwd: root, env: { ...process.env, ...variables } });
    let output = '';
    npm.stdout.on('data', (bytes) => (output += bytes));
    const exit = new Promise((resolve) => npm.on('close', resolve));
    await expect.poll(() => output, { timeout: 30_000 }).toContain('ready in');
    npm.kill('SIGTERM');
    expect(await exit).toBe(0);
  },
);

test('SIGINT ends it with 0 too', async () => {
  const ennead = startEnnead(['run', 'mesh'], variables);
  await ennead.ready;
  expect((await ennead.stop('SIGINT')).code).toBe(0);
});

test('a start that waits for the data folder of another host ends with 0 at once, and leaves it be', async () => {
  const dataFolder = join(folder.path, 'held');
  const lock = join(dataFolder, 'lock');
  const token = '00000000-0000-4000-8000-000000000000';
  const holder = JSON.stringify({ pid: 1, host: 'elsewhere', lockedAt: 'today', token });
  await mkdir(dataFolder);
  await writeFile(lock, holder);
  const ennead = startEnnead(['run', 'mesh'], { ...variables, ENNEAD_DATA_DIR: dataFolder });
  await expect.poll(() => ennead.output(), { timeout: 10_000 }).toContain('waiting to see');
  const toldAt = Date.now();
  expect((await ennead.stop()).code).toBe(0);
  expect(Date.now() - toldAt).toBeLessThan(5_000);
  expect(await readFile(lock, 'utf8')).toBe(holder);
});

test.skipIf(process.platform === 'win32')(
  'a terminal that closes, and tells so twice, has it close everything first',
  async () => {
    const ennead = startEnnead(['run', 'mesh'], variables);
    await ennead.ready;
    const lock = join(variables['ENNEAD_DATA_DIR'] ?? '', 'lock');
    expect(existsSync(lock)).toBe(true);
    ennead.process.kill('SIGHUP');
    expect((await ennead.stop('SIGHUP')).signal).toBe('SIGHUP');
    expect(existsSync(lock)).toBe(false);
  },
);

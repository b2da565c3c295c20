import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createContext } from '../testing.ts';
import { createFileSystemRead } from './file-system-read.ts';

const folder = mkdtempSync(join(tmpdir(), 'ennead-files-'));
const root = join(folder, 'root');

beforeAll(() => {
  mkdirSync(join(root, 'docs/..hidden'), { recursive: true });
  mkdirSync(join(folder, 'root-beside'));
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'root-beside/secret.txt'), 'secret');
  writeFileSync(join(root, 'docs/guide.md'), 'Grüße');
  writeFileSync(join(root, 'docs/..hidden/a..b.txt'), 'dots');
  writeFileSync(join(root, 'bytes.bin'), Buffer.from([0xff, 0xfe, 0x00]));
  writeFileSync(join(root, 'large.txt'), 'x'.repeat(2_000));
  symlinkSync(join(root, 'docs/guide.md'), join(root, 'inside.md'));
  symlinkSync(join(folder, 'secret.txt'), join(root, 'outside.md'));
  symlinkSync(folder, join(root, 'up'));
  symlinkSync(join(root, 'round'), join(root, 'round'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(path: string, more: Record<string, unknown> = {}, at: string | undefined = root) {
  return createFileSystemRead(at).run({ path, ...more }, createContext());
}

describe('A FileSystemRead', () => {
  test('fails while no folder is configured', async () => {
    const failure = createFileSystemRead(undefined).run({ path: 'a' }, createContext());
    await expect(failure).rejects.toMatchObject({ reason: 'not_configured' });
  });

  test('reads a text and says how large it is', async () => {
    expect(await read('docs/guide.md')).toMatchObject({
      kind: 'done',
      output: { content: 'Grüße', encoding: 'utf8', size: 7, modifiedAt: expect.any(String) },
    });
  });

  test('reads bytes as base64, and says so where they are no text', async () => {
    expect(await read('bytes.bin', { encoding: 'base64' })).toMatchObject({
      output: { content: '//4A', size: 3 },
    });
    await expect(read('bytes.bin')).rejects.toMatchObject({ code: 'invalid', reason: 'not_text' });
  });

  test('follows a link that stays inside, and reads names with dots in them', async () => {
    expect(await read('inside.md')).toMatchObject({ output: { content: 'Grüße' } });
    expect(await read('docs/..hidden/a..b.txt')).toMatchObject({ output: { content: 'dots' } });
  });

  test('refuses a file that is larger than it may be', async () => {
    expect(await read('large.txt', { maxBytes: 2_000 })).toMatchObject({ output: { size: 2_000 } });
    await expect(read('large.txt', { maxBytes: 1_999 })).rejects.toMatchObject({
      code: 'too_large',
      reason: 'file_too_large',
    });
  });

  test.each([['none.md'], ['docs/guide.md/x'], ['n'.repeat(1_000)]])(
    'does not find %.20s, and never names its folder',
    async (path) => {
      const failure = await read(path).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'not_found', reason: 'file_not_found' });
      expect(String(failure)).not.toContain(folder);
    },
  );

  test.each([
    ['../secret.txt'],
    ['docs/../../secret.txt'],
    ['docs/../guide.md'],
    ['../root-beside/secret.txt'],
    ['/etc/passwd'],
    ['//etc/passwd'],
    ['..\\secret.txt'],
    ['docs\\..\\..\\secret.txt'],
    ['C:\\Windows\\win.ini'],
    ['C:/Windows/win.ini'],
    ['%2e%2e/secret.txt'],
    ['..%2fsecret.txt'],
    ['%252e%252e%252fsecret.txt'],
    ['%25252e%25252e/secret.txt'],
    ['..%5csecret.txt'],
    ['\uff0e\uff0e/secret.txt'],
    ['\uff0e\uff0e\uff0fsecret.txt'],
    ['\u2025/secret.txt'],
    ['docs/guide.md\u0000.txt'],
    ['docs/guide.md%00.txt'],
    ['~/secret.txt'],
    ['outside.md'],
    ['up/secret.txt'],
    ['up/root-beside/secret.txt'],
    ['round'],
    ['.'],
    [''],
  ])('does not leave its folder by %j', async (path) => {
    await expect(read(path)).rejects.toMatchObject({
      code: 'forbidden',
      reason: 'path_outside_root',
    });
  });

  test('refuses a folder', async () => {
    await expect(read('docs')).rejects.toMatchObject({ code: 'invalid', reason: 'not_a_file' });
  });

  test.skipIf(process.platform === 'win32')('never waits for a pipe', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(read('pipe')).rejects.toMatchObject({ code: 'invalid', reason: 'not_a_file' });
  });

  test.skipIf(process.platform !== 'linux')('refuses devices, also below a root', async () => {
    for (const name of ['zero', 'null', 'tty']) {
      await expect(read(name, {}, '/dev')).rejects.toMatchObject({ reason: 'not_a_file' });
    }
  });

  test.skipIf(process.platform !== 'linux')('believes no size that is told', async () => {
    expect(await read('version', {}, '/proc')).toMatchObject({
      output: { content: expect.stringContaining('Linux') },
    });
  });

  test('fails when its folder is gone', async () => {
    const failure = read('a.txt', {}, join(folder, 'gone'));
    await expect(failure).rejects.toMatchObject({ reason: 'file_not_found' });
  });
});

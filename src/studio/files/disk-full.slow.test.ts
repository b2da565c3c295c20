import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { openTestTables } from '../../kit/database/testing.ts';
import { Fault } from '../../kit/errors.ts';
import { studio } from '../service.ts';
import { openTestFiles } from './testing.ts';

const disk = mountSmallDisk();

afterAll(() => {
  if (disk !== undefined) execFileSync('umount', [disk]);
  rmSync(disk ?? '', { recursive: true, force: true });
});

/** A disk of 2 MiB; undefined where this is not allowed. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'ennead-disk-'));
  try {
    const options = ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder];
    execFileSync('mount', options, { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

test.skipIf(disk === undefined)(
  'on a full disk a write is refused, what is stored stays whole, and writes go on once there is room',
  async () => {
    await using tables = await openTestTables('studio', studio.migrations);
    await using ground = await openTestFiles(tables, disk);
    const { id, files, root } = ground;
    const first = randomBytes(300_000);
    await files.apply(id, { deviceId: 'd', path: 'first', content: first });
    const filler = join(disk ?? '', 'filler');
    // Room for one copy of the next, and not for both.
    await writeFile(filler, randomBytes(1_000_000));
    const second = randomBytes(350_000);
    const wanted = { deviceId: 'd', path: 'first', content: second };
    const refused = await files.apply(id, wanted).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect(refused).toMatchObject({ reason: 'disk_full', status: 507 });
    expect(await files.lastSeq(id)).toBe(1);
    expect(await files.rescan(id)).toMatchObject({ changed: 0 });
    const { record, open } = await files.read(id, 'first');
    expect(record.hash).toBe(createHash('sha256').update(first).digest('hex'));
    expect((await buffer(open())).equals(first)).toBe(true);
    expect((await readFile(join(root, 'first'))).equals(first)).toBe(true);
    await rm(filler);
    expect(await files.apply(id, wanted)).toMatchObject({ outcome: 'applied', seq: 2 });
    const batch = Array.from({ length: 10 }, (_, index) => ({
      deviceId: 'd',
      path: `file-${index}`,
      content: randomBytes(100_000),
    }));
    // More than the disk holds: nothing of the log names what is not there.
    await files.applyAll(id, batch).catch(() => []);
    for (const { path } of await files.list(id, { limit: 100 })) {
      const found = await files.read(id, path);
      expect((await buffer(found.open())).length).toBe(found.record.size);
    }
  },
);

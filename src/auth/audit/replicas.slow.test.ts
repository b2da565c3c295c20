import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openGround, startAuth, type Ground } from '../testing.ts';
import { failKeyLogin } from './testing.ts';

/** The ground of another replica: the same database and key file, and a data folder of its own. */
async function openReplicaGround(own: Ground): Promise<Ground> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-audit-'));
  await cp(join(own.dataFolder, 'secrets'), join(dataFolder, 'secrets'), { recursive: true });
  const remove = () => rm(dataFolder, { recursive: true });
  return { database: own.database, dataFolder, [Symbol.asyncDispose]: remove };
}

async function readKeptSeq({ dataFolder }: Ground): Promise<number> {
  const text = await readFile(join(dataFolder, 'audit-checkpoint.json'), 'utf8');
  return JSON.parse(text).seq;
}

/** Takes the newest events away with every trace of them in the database; answers the first of them. */
async function cutOff(own: Ground, count: number): Promise<number> {
  const [row] = await own.database.query<{ seq: number }>('select seq from auth.audit_head');
  const last = Number(row?.seq) - count;
  await own.database.query('delete from auth.audit where seq > $1', [last]);
  await own.database.query('delete from auth.audit_checkpoints where seq > $1', [last]);
  await own.database.query(
    'update auth.audit_head as head set seq = a.seq, hash = a.hash from auth.audit a where a.seq = $1',
    [last],
  );
  return last + 1;
}

afterEach(() => vi.useRealTimers());

test('a replica signs every minute for its own folder, which a cut of the database does not reach', async () => {
  await using own = await openGround();
  await using busy = await startAuth(own);
  await using far = await openReplicaGround(own);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const idle = await startAuth(far);
  const token = await busy.adminToken();
  await Promise.all(Array.from({ length: 20 }, () => failKeyLogin(busy)));
  const before = await readKeptSeq(far);
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => readKeptSeq(far)).toBeGreaterThan(before + 19);

  const brokenAt = await cutOff(own, 10);
  const missing = { valid: false, brokenAt, reason: 'event_missing' };
  const shown = await idle.call('GET', '/api/v1/auth/audit/verify', { token });
  expect(shown.body).toMatchObject(missing);
  await idle[Symbol.asyncDispose]();

  // A replica whose folder has kept nothing signs what is left, and more than was there before.
  await using fresh = await openReplicaGround(own);
  const signer = await startAuth(fresh);
  await Promise.all(Array.from({ length: 20 }, () => failKeyLogin(signer)));
  await signer[Symbol.asyncDispose]();
  await using again = await startAuth(far);
  const rewritten = await again.call('GET', '/api/v1/auth/audit/verify', { token });
  expect(rewritten.body).toMatchObject({ valid: false, reason: 'history_rewritten' });
});

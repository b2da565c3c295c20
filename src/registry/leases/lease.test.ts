import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { Lease } from './lease.ts';

let database: Database;
let nowMs = 0;

beforeAll(async () => {
  database = await openTestTables('registry', new URL('../migrations/', import.meta.url));
});

afterAll(() => database[Symbol.asyncDispose]());

beforeEach(() => database.query('delete from registry.leases'));

function openLease(holder: string, sql: Pick<Database, 'query'> = database) {
  const lease = new Lease({ sql, name: 'checks', holder, log: silentLog, now: () => nowMs });
  const heard: boolean[] = [];
  lease.onChange((isHeld) => heard.push(isHeld));
  return { lease, heard };
}

/** As if 30 seconds had passed at the database. */
const letEnd = () =>
  database.query(`update registry.leases set expires_at = clock_timestamp() - interval '1 s'`);

test('one of two has it, and the other one takes it over when it ends', async () => {
  const one = openLease('one');
  const two = openLease('two');
  await one.lease.renew();
  await two.lease.renew();
  await one.lease.renew();
  expect([one.lease.fence, two.lease.fence]).toEqual([1, undefined]);
  await letEnd();
  await two.lease.renew();
  await one.lease.renew();
  expect([one.lease.fence, two.lease.fence]).toEqual([undefined, 2]);
  expect([one.heard, two.heard]).toEqual([[true, false], [true]]);
});

test('who gives it back leaves it to the next at once', async () => {
  const one = openLease('one');
  const two = openLease('two');
  await one.lease.start();
  await one.lease[Symbol.asyncDispose]();
  expect([one.lease.fence, one.heard]).toEqual([undefined, [true, false]]);
  await two.lease.renew();
  expect(two.lease.fence).toBe(2);
});

test('who died and comes again under the same name has it at once', async () => {
  const before = openLease('only');
  await before.lease.renew();
  const after = openLease('only');
  await after.lease.renew();
  expect(after.lease.fence).toBe(1);
});

test('who cannot renew it stops before another one may begin', async () => {
  let isAway = false;
  const sql: Pick<Database, 'query'> = {
    query: (text, parameters) =>
      isAway ? Promise.reject(new Error('away')) : database.query(text, parameters),
  };
  const { lease, heard } = openLease('one', sql);
  await lease.renew();
  isAway = true;
  nowMs += 28_000;
  await lease.renew();
  expect(lease.fence).toBe(1);
  nowMs += 1_000;
  expect(lease.fence).toBeUndefined();
  await lease.renew();
  expect(heard).toEqual([true, false]);
  isAway = false;
  await lease.renew();
  expect([lease.fence, heard]).toEqual([1, [true, false, true]]);
});

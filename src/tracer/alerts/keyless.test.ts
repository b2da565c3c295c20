import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTracerDatabase } from '../series/testing.ts';
import type { Alert } from './alert.ts';
import type { Alerts } from './alerts.ts';
import {
  openAlerts,
  requestOf,
  SetClock,
  SetMetrics,
  startHook,
  type HookServer,
} from './testing.ts';

let database: Database;
let folder: string;
let hook: HookServer;
let metrics: SetMetrics;
let clock: SetClock;

beforeAll(async () => {
  database = await openTracerDatabase();
  folder = await mkdtemp(join(tmpdir(), 'ennead-alerts-'));
  hook = await startHook();
});

beforeEach(async () => {
  await database.query('truncate tracer.alerts cascade');
  metrics = new SetMetrics();
  clock = new SetClock();
  hook.posts.length = 0;
});

afterAll(async () => {
  await hook[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A replica with key files of its own. */
const open = (name: 'keyed' | 'keyless') =>
  openAlerts({ sql: database, metrics, clock, dataFolder: join(folder, name) });

const request = () => requestOf({ notifications: [{ type: 'slack', webhook: hook.url }] });

/** Ten seconds later, in which half of all traces failed. */
async function tick(alerts: Alerts): Promise<void> {
  Object.assign(metrics, { count: 10, errors: 5 });
  clock.advance(10_000);
  await alerts.evaluate();
  await alerts.deliver();
}

async function deliveriesOf(alerts: Alerts, { id }: Alert) {
  const { events } = await alerts.history(id, { limit: 20, offset: 0 });
  return events.flatMap(({ deliveries }) =>
    deliveries.map(({ status, attempts, error }) => ({ status, attempts, error })),
  );
}

const error = 'the stored webhook cannot be read: its key file is missing or another';

test('a replica without the key leaves a webhook to one that has it, at no cost of an attempt', async () => {
  await using keyed = open('keyed');
  await using keyless = open('keyless');
  const alert = await keyed.create(request(), 'usr_1');
  for (let count = 0; count < 20; count += 1) await tick(keyless);
  expect(await deliveriesOf(keyed, alert)).toEqual([{ status: 'pending', attempts: 0, error }]);
  await keyed.deliver();
  expect(await deliveriesOf(keyed, alert)).toEqual([
    { status: 'delivered', attempts: 1, error: null },
  ]);
});

test('a webhook that nobody can read is given up when any other would be', async () => {
  await using keyed = open('keyed');
  await using keyless = open('keyless');
  const alert = await keyed.create(request(), 'usr_1');
  await tick(keyless);
  clock.advance(3 * 60 * 60_000);
  await keyless.deliver();
  expect(await deliveriesOf(keyless, alert)).toEqual([{ status: 'failed', attempts: 1, error }]);
  expect(hook.posts).toEqual([]);
});

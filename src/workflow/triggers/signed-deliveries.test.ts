import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { openGround, SetClock } from '../batches/testing.ts';
import { sign } from '../callbacks/signature.ts';
import type { Delivery } from './hooks.ts';
import { Triggers } from './triggers.ts';

const secret = 'a-secret-of-my-own';
const clock = new SetClock();
let ground: Awaited<ReturnType<typeof openGround>>;
let triggers: Triggers;
let hookId: string;

beforeAll(async () => {
  ground = await openGround();
  const { database: sql, engine, plans, sealer, bus } = ground;
  triggers = new Triggers({ sql, engine, plans, sealer, bus, log: silentLog, now: clock.now });
});

beforeEach(async () => {
  ground.engine.starts.length = 0;
  const { trigger } = await triggers.create({
    type: 'webhook',
    workflowId: 'wfl_1',
    ownerId: 'usr_a',
    isEnabled: true,
    permissions: ['*'],
    secret,
  });
  hookId = trigger.id;
});

afterAll(async () => {
  await triggers[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function deliver(json: unknown, secondsAgo: number, headers: Delivery['headers'] = {}) {
  const body = Buffer.from(JSON.stringify(json));
  const signature = sign(body, secret, Math.floor(clock.ms / 1_000) - secondsAgo);
  const signed = {
    'content-type': 'application/json',
    'x-ennead-signature': signature,
    ...headers,
  };
  return triggers.deliver(hookId, { method: 'POST', query: {}, body, headers: signed }, '');
}

test('a signed delivery that comes again as it was starts nothing', async () => {
  await deliver({ order: 1 }, 9);
  await deliver({ order: 1 }, 9);
  expect(ground.engine.starts).toHaveLength(1);
  await deliver({ order: 2 }, 9);
  await deliver({ order: 1 }, 0);
  expect(ground.engine.starts).toHaveLength(3);
});

test('a sender that tells two deliveries apart is believed', async () => {
  await deliver({ order: 1 }, 0, { 'idempotency-key': 'a' });
  await deliver({ order: 1 }, 0, { 'idempotency-key': 'b' });
  expect(ground.engine.starts).toHaveLength(2);
});

test('a callback of our own that is tried again, and signed anew, starts nothing', async () => {
  const callback = { 'x-ennead-delivery': 'clb_1' };
  await deliver({ status: 'completed' }, 9, callback);
  await deliver({ status: 'completed' }, 0, callback);
  expect(ground.engine.starts).toHaveLength(1);
});

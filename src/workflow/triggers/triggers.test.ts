import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { openGround, SetClock } from '../batches/testing.ts';
import { sign } from '../callbacks/signature.ts';
import type { Delivery } from './hooks.ts';
import type { Trigger } from './trigger.ts';
import type { TriggerRequest } from './requests.ts';
import { Triggers } from './triggers.ts';

let ground: Awaited<ReturnType<typeof openGround>>;
let clock: SetClock;
let triggers: Triggers;
const opened: Triggers[] = [];
const span = '';
const page = { limit: 100, offset: 0 };
const all = ['*'];

beforeAll(async () => {
  ground = await openGround();
});

afterAll(() => ground[Symbol.asyncDispose]());

beforeEach(async () => {
  clock = new SetClock();
  ground.engine.executions.clear();
  ground.engine.starts.length = 0;
  ground.engine.verdictOf = () => 'completed';
  await ground.database.query('delete from workflow.triggers');
  triggers = open();
});

afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

/** A replica whose timers do not run: the tests look themselves. */
function open(log = silentLog): Triggers {
  const { database: sql, engine, plans, sealer, bus } = ground;
  const replica = new Triggers({
    sql,
    engine,
    plans,
    sealer,
    bus,
    log,
    now: clock.now,
  });
  opened.push(replica);
  return replica;
}

async function create(over: Partial<TriggerRequest> & Pick<Trigger, 'type'>) {
  return triggers.create({
    workflowId: 'wfl_1',
    ownerId: 'usr_a',
    isEnabled: true,
    permissions: all,
    ...over,
  });
}

function deliveryOf(over: Partial<Delivery> & { readonly json?: unknown } = {}): Delivery {
  const body = Buffer.from(JSON.stringify(over.json ?? { name: 'Ada' }));
  return {
    method: 'POST',
    query: {},
    body,
    ...over,
    headers: { 'content-type': 'application/json', ...over.headers },
  };
}

async function statusesOf(id: string): Promise<string[]> {
  const { firings } = await triggers.firings(id, page);
  return firings.map(({ status }) => status).toReversed();
}

describe('a trigger is refused', () => {
  test.each([
    [{ type: 'schedule' }, 'validation_error'],
    [{ type: 'schedule', cron: 'every day' }, 'bad_schedule'],
    [{ type: 'schedule', cron: '* * * * * *' }, 'bad_schedule'],
    [{ type: 'schedule', cron: '0 0 30 2 *' }, 'bad_schedule'],
    [{ type: 'schedule', cron: '@daily', timeZone: 'Europe/Nowhere' }, 'bad_schedule'],
    [{ type: 'schedule', cron: '@daily', inputs: { a: '{{ body.x }}' } }, 'bad_expression'],
    [{ type: 'webhook', inputs: { a: ['{{ body.'] } }, 'bad_expression'],
    [{ type: 'webhook', filter: 'body.x ==' }, 'bad_expression'],
    [{ type: 'webhook', filter: 'secret == 1' }, 'bad_expression'],
    [{ type: 'event' }, 'validation_error'],
    [{ type: 'event', topic: 'revocations' }, 'unknown_topic'],
    [{ type: 'event', topic: 'constructor' }, 'unknown_topic'],
    [{ type: 'webhook', overlap: 'skip' }, 'validation_error'],
    [{ type: 'webhook', cron: '@daily' }, 'validation_error'],
    [{ type: 'webhook', verification: 'none', secret: 'of-sixteen-chars' }, 'validation_error'],
    [{ type: 'schedule', cron: '@daily', filter: 'true' }, 'validation_error'],
    [{ type: 'event', topic: 'mesh.activity', secret: 'of-sixteen-chars' }, 'validation_error'],
  ] as const)('as %j because of %s', async (settings, reason) => {
    await expect(create(settings)).rejects.toMatchObject({ reason });
  });

  test('when it is changed to what it could not have been', async () => {
    const { trigger } = await create({ type: 'webhook', verification: 'none' });
    const change = (settings: object) =>
      triggers.change('wfl_1', trigger.id, { ...settings, permissions: all });
    const refused = { reason: 'validation_error' };
    await expect(change({ overlap: 'queue' })).rejects.toMatchObject(refused);
    await expect(change({ secret: 'of-sixteen-chars' })).rejects.toMatchObject(refused);
    await change({ verification: 'secret', secret: 'of-sixteen-chars' });
  });

  test('on a workflow that is not there', async () => {
    await expect(
      create({ type: 'schedule', cron: '@daily', workflowId: 'nope' }),
    ).rejects.toMatchObject({ reason: 'workflow_not_found' });
  });

  test('for events that its maker may not read', async () => {
    const permissions = ['workflow:create'];
    await expect(
      create({ type: 'event', topic: 'tracer.trace-completed', permissions }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await create({ type: 'event', topic: 'mesh.activity', permissions });
  });

  test('when its workflow has fifty', async () => {
    for (let count = 0; count < 50; count += 1) await create({ type: 'webhook' });
    await expect(create({ type: 'webhook' })).rejects.toMatchObject({
      reason: 'too_many_triggers',
    });
  });
});

describe('a schedule', () => {
  test('fires once at its time, over all replicas', async () => {
    const { trigger } = await create({
      type: 'schedule',
      cron: '5 * * * *',
      inputs: { at: '{{ schedule.dueAt }}' },
    });
    const replicas = [triggers, open(), open()];
    await Promise.all(replicas.map((one) => one.settle()));
    expect(ground.engine.starts).toEqual([]);
    clock.advance(5 * 60_000);
    await Promise.all(replicas.map((one) => one.settle()));
    expect(ground.engine.starts).toMatchObject([
      {
        workflowId: 'wfl_1',
        ownerId: 'usr_a',
        trigger: 'schedule',
        inputs: { at: '2026-11-21T12:05:00.000Z' },
      },
    ]);
    expect((await triggers.read('wfl_1', trigger.id)).nextAt).toEqual(
      new Date('2026-11-21T13:05:00Z'),
    );
    expect(await statusesOf(trigger.id)).toEqual(['started']);
  });

  test('makes up for what it missed by one firing', async () => {
    const { trigger } = await create({ type: 'schedule', cron: '* * * * *' });
    clock.advance(24 * 60 * 60_000);
    await triggers.settle();
    await triggers.settle();
    expect(ground.engine.starts).toHaveLength(1);
    const { nextAt } = await triggers.read('wfl_1', trigger.id);
    expect(nextAt).toEqual(new Date('2026-11-22T12:01:00Z'));
  });

  test('goes by the clock of its time zone, over the change of time', async () => {
    clock.ms = Date.UTC(2026, 9, 24, 12);
    const { trigger } = await create({
      type: 'schedule',
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
    });
    // The clock goes back on the 25th: half past two comes twice.
    const due: string[] = [];
    for (let day = 0; day < 3; day += 1) {
      const { nextAt } = await triggers.read('wfl_1', trigger.id);
      due.push(nextAt?.toISOString() ?? '');
      clock.ms = nextAt?.getTime() ?? 0;
      await triggers.settle();
    }
    expect(due).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
      '2026-10-27T01:30:00.000Z',
    ]);
  });

  test('is skipped while the execution before still runs, or waits for its end', async () => {
    ground.engine.verdictOf = () => 'hold';
    const skipping = await create({ type: 'schedule', cron: '* * * * *' });
    const queueing = await create({ type: 'schedule', cron: '* * * * *', overlap: 'queue' });
    for (let minute = 0; minute < 3; minute += 1) {
      clock.advance(60_000);
      await triggers.settle();
    }
    expect(await statusesOf(skipping.trigger.id)).toEqual(['started', 'skipped', 'skipped']);
    expect(await statusesOf(queueing.trigger.id)).toEqual(['started', 'queued', 'queued']);
    await triggers.change('wfl_1', skipping.trigger.id, { isEnabled: false, permissions: all });
    for (const { id } of ground.engine.executions.values()) ground.engine.end(id, 'failed');
    await triggers.settle();
    expect(await statusesOf(queueing.trigger.id)).toEqual(['started', 'started', 'queued']);
  });

  test('that is paused does not fire, and does not make up for it', async () => {
    const { trigger } = await create({ type: 'schedule', cron: '* * * * *' });
    await triggers.change('wfl_1', trigger.id, { isEnabled: false, permissions: all });
    clock.advance(10 * 60_000);
    await triggers.settle();
    const { nextAt } = await triggers.change('wfl_1', trigger.id, {
      isEnabled: true,
      permissions: all,
    });
    await triggers.settle();
    expect(ground.engine.starts).toEqual([]);
    expect(nextAt).toEqual(new Date('2026-11-21T12:11:00Z'));
  });

  test('whose process died before it started the workflow starts it after all', async () => {
    const { trigger } = await create({ type: 'schedule', cron: '* * * * *' });
    clock.advance(60_000);
    ground.engine.failures.push(Object.assign(new Error('killed')) as never);
    await triggers.settle();
    expect(await statusesOf(trigger.id)).toEqual(['claimed']);
    await triggers.change('wfl_1', trigger.id, { cron: '@yearly', permissions: all });
    clock.advance(61_000);
    await open().settle();
    expect(await statusesOf(trigger.id)).toEqual(['started']);
    expect(ground.engine.starts).toHaveLength(1);
  });
});

describe('a webhook', () => {
  test('is deaf to whoever does not know its secret', async () => {
    const { trigger, secret = '' } = await create({ type: 'webhook' });
    expect(secret).toHaveLength(43);
    const body = deliveryOf().body;
    const seconds = Math.floor(clock.ms / 1_000);
    const wrong: Delivery['headers'][] = [
      {},
      { 'x-webhook-secret': '' },
      { 'x-webhook-secret': `${secret}x` },
      { 'x-gitlab-token': `${secret}x` },
      { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
      { 'x-hub-signature-256': 'sha256=' },
      { 'x-ennead-signature': sign('another body', secret, seconds) },
      { 'x-ennead-signature': sign(body, secret, seconds - 301) },
      { 'x-ennead-signature': sign(body, secret, seconds + 301) },
      { 'x-ennead-signature': 't=1,v1=zz' },
    ];
    for (const headers of wrong) {
      await expect(
        triggers.deliver(trigger.id, deliveryOf({ headers }), span),
      ).rejects.toMatchObject({ reason: 'bad_webhook_secret' });
    }
    expect(ground.engine.starts).toEqual([]);
  });

  test('hears whoever shows the secret, or a signature made with it', async () => {
    const given = 'a-secret-of-my-own';
    const { trigger, secret } = await create({ type: 'webhook', secret: given });
    expect(secret).toBeUndefined();
    expect(JSON.stringify(trigger)).not.toContain(given);
    const { body } = deliveryOf();
    const hub = createHmac('sha256', given).update(body).digest('hex');
    for (const headers of [
      { 'x-gitlab-token': given },
      { 'x-webhook-secret': given },
      { 'x-hub-signature-256': `sha256=${hub}` },
      { 'x-ennead-signature': sign(body, given, Math.floor(clock.ms / 1_000)) },
    ]) {
      const delivered = await triggers.deliver(trigger.id, deliveryOf({ headers }), span);
      expect(delivered).toMatchObject({ kind: 'started' });
    }
    expect(ground.engine.starts[0]?.inputs).toEqual({
      body: { name: 'Ada' },
      query: {},
      headers: { 'content-type': 'application/json' },
    });
  });

  test('starts one execution for a delivery that is repeated', async () => {
    const { trigger } = await create({ type: 'webhook', verification: 'none' });
    const again = deliveryOf({ headers: { 'x-delivery-id': 'd-1' } });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => triggers.deliver(trigger.id, again, span)),
    );
    const ids = answers.map((one) => (one.kind === 'started' ? one.execution.id : ''));
    expect(new Set(ids).size).toBe(1);
    await triggers.deliver(trigger.id, deliveryOf({ headers: { 'x-delivery-id': 'd-2' } }), span);
    expect(ground.engine.starts).toHaveLength(2);
  });

  test('takes only what its filter holds for, and maps it to inputs of their types', async () => {
    const { trigger } = await create({
      type: 'webhook',
      verification: 'none',
      filter: 'body.kind == "order" && query.env == "live"',
      inputs: { order: '{{ body.items }}', text: 'for {{ body.who | upcase }}', fixed: 7 },
    });
    const json = { kind: 'order', who: 'ada', items: [{ sku: 1 }] };
    const query = { env: 'live' };
    const ignored = await triggers.deliver(trigger.id, deliveryOf({ json: { kind: 'x' } }), span);
    expect(ignored).toEqual({ kind: 'ignored' });
    await triggers.deliver(trigger.id, deliveryOf({ json, query }), span);
    expect(ground.engine.starts.map(({ inputs }) => inputs)).toEqual([
      { order: [{ sku: 1 }], text: 'for ADA', fixed: 7 },
    ]);
  });

  test('whose filter cannot be worked out says so to its owner too, and starts once it can', async () => {
    const { trigger } = await create({
      type: 'webhook',
      verification: 'none',
      filter: 'body.kind == "order"',
    });
    const delivery = deliveryOf({ headers: { 'x-delivery-id': 'd-1' } });
    for (let times = 0; times < 2; times += 1) {
      await expect(triggers.deliver(trigger.id, delivery, span)).rejects.toMatchObject({
        reason: 'expression_failed',
      });
    }
    const { firings } = await triggers.firings(trigger.id, page);
    expect(firings).toMatchObject([
      { key: 'd-1', status: 'failed', error: expect.stringContaining('kind') },
    ]);
    await triggers.change('wfl_1', trigger.id, { filter: 'true', permissions: all });
    await triggers.deliver(trigger.id, delivery, span);
    expect(await statusesOf(trigger.id)).toEqual(['started']);
  });

  test('refuses other methods, bodies that are no JSON, and deliveries while it is paused', async () => {
    const { trigger } = await create({ type: 'webhook', verification: 'none' });
    const deliver = (delivery: Delivery) => triggers.deliver(trigger.id, delivery, span);
    await expect(deliver(deliveryOf({ method: 'PUT' }))).rejects.toMatchObject({ status: 405 });
    for (const text of ['{', '{"__proto__": {}}', '{"a":1,"a":2}']) {
      await expect(deliver(deliveryOf({ body: Buffer.from(text) }))).rejects.toMatchObject({
        reason: 'invalid_json',
      });
    }
    const packed = deliveryOf({ headers: { 'content-encoding': 'gzip' } });
    await expect(deliver(packed)).rejects.toMatchObject({ status: 415 });
    await triggers.change('wfl_1', trigger.id, { isEnabled: false, permissions: all });
    await expect(deliver(deliveryOf())).rejects.toMatchObject({ reason: 'trigger_disabled' });
    await triggers.delete('wfl_1', trigger.id);
    await expect(deliver(deliveryOf())).rejects.toMatchObject({ reason: 'hook_not_found' });
  });

  test('takes a form, in which a name that comes twice has a list', async () => {
    const { trigger } = await create({ type: 'webhook', verification: 'none' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = Buffer.from('a=1&b=%C3%BC&a=2');
    await triggers.deliver(trigger.id, deliveryOf({ headers, body }), span);
    expect(ground.engine.starts[0]?.inputs).toMatchObject({ body: { a: ['1', '2'], b: 'ü' } });
  });

  test('takes 120 deliveries a minute', async () => {
    const { trigger } = await create({
      type: 'webhook',
      verification: 'none',
      filter: 'body.name == "nobody"',
    });
    for (let count = 0; count < 120; count += 1) {
      await triggers.deliver(trigger.id, deliveryOf(), span);
    }
    await expect(triggers.deliver(trigger.id, deliveryOf(), span)).rejects.toMatchObject({
      code: 'exhausted',
    });
    clock.advance(60_000);
    await triggers.deliver(trigger.id, deliveryOf(), span);
  });
});

describe('an event', () => {
  test('starts the workflow once, over all replicas, where the filter holds', async () => {
    const { trigger } = await create({
      type: 'event',
      topic: 'mesh.activity',
      filter: 'event.data.type == "task-failed"',
      inputs: { agent: '{{ event.data.agentId }}' },
    });
    const replicas = [triggers, open()];
    for (const one of replicas) await one.start();
    const topic = ground.bus.topic('mesh.activity');
    await topic.publish({ type: 'task-executed', agentId: 'a' });
    await topic.publish({ type: 'task-failed', agentId: 'b' });
    for (const one of replicas) await one.settle();
    expect(ground.engine.starts).toMatchObject([{ trigger: 'event', inputs: { agent: 'b' } }]);
    expect(await statusesOf(trigger.id)).toEqual(['started']);
  });

  test('for which the filter cannot be worked out is a firing that failed', async () => {
    const { trigger } = await create({
      type: 'event',
      topic: 'mesh.activity',
      filter: 'event.data.kind == "x"',
    });
    await triggers.start();
    await ground.bus.topic('mesh.activity').publish({ agentId: 'a' });
    await triggers.settle();
    const { firings } = await triggers.firings(trigger.id, page);
    expect(firings).toMatchObject([{ status: 'failed', error: expect.stringContaining('kind') }]);
    expect(ground.engine.starts).toEqual([]);
  });

  test('that the workflow itself causes does not run away', async () => {
    const warnings: unknown[] = [];
    const log = silentLog.child({});
    log.warn = (...words: unknown[]) => void warnings.push(words.at(-1));
    triggers = open(log);
    const { trigger } = await create({ type: 'event', topic: 'tracer.trace-completed' });
    await triggers.start();
    const topic = ground.bus.topic('tracer.completed');
    for (let count = 0; count < 200; count += 1) await topic.publish({ traceId: String(count) });
    await triggers.settle();
    await vi.waitFor(() => expect(ground.engine.runningCount).toBe(0));
    expect(ground.engine.starts.length).toBeLessThanOrEqual(60);
    expect(ground.engine.starts.length).toBeGreaterThan(0);
    // Neither the table nor the log grows with each event that is passed over.
    const { firings, total } = await triggers.firings(trigger.id, page);
    expect(total).toBe(120);
    expect(warnings).toEqual(['a trigger fires too often: events are passed over']);
    expect(firings[0]).toMatchObject({
      status: 'skipped',
      error: 'events start it 60 times a minute at most',
    });
  });
});

test('nothing starts a workflow any more once its triggers were disabled', async () => {
  await create({ type: 'schedule', cron: '* * * * *' });
  const { trigger } = await create({ type: 'webhook', verification: 'none' });
  await triggers.disableOf('wfl_1');
  clock.advance(120_000);
  await triggers.settle();
  await expect(triggers.deliver(trigger.id, deliveryOf(), span)).rejects.toMatchObject({
    reason: 'trigger_disabled',
  });
  expect(ground.engine.starts).toEqual([]);
});

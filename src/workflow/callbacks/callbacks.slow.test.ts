import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTarget, type Target } from '../../kit/egress/testing.ts';
import { openGround, SetClock } from '../batches/testing.ts';
import type { Callbacks as CallbackSettings, Execution } from '../engine/execution.ts';
import type { CallbackTarget } from './callback.ts';
import type { Callbacks } from './callbacks.ts';
import { isSignature, sign } from './signature.ts';

const secret = 'the secret of the caller';
let ground: Awaited<ReturnType<typeof openGround>>;
let target: Target;
let other: Target;
let clock: SetClock;
let settings: CallbackSettings | undefined;
let callbacks: Callbacks;
const opened: Callbacks[] = [];

beforeAll(async () => {
  ground = await openGround();
  [target, other] = [await startTarget(), await startTarget()];
});

afterAll(async () => {
  for (const one of [ground, target, other]) await one[Symbol.asyncDispose]();
});

beforeEach(async () => {
  clock = new SetClock();
  settings = undefined;
  target.arrivals.length = 0;
  other.arrivals.length = 0;
  await ground.database.query('delete from workflow.callbacks');
  callbacks = open();
});

afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

/** A replica that sends when it is told to. */
function open(): Callbacks {
  const replica = ground.openCallbacks({
    now: clock.now,
    timeoutMs: 300,
    callbacksOf: () => Promise.resolve(settings),
  });
  opened.push(replica);
  return replica;
}

function executionOf(over: Partial<Execution> = {}): Execution {
  return {
    id: 'exe_1',
    workflowId: 'wfl_1',
    version: 1,
    status: 'completed',
    trigger: 'api',
    ownerId: 'usr_a',
    inputs: {},
    startedAtMs: 1,
    completedAtMs: 2,
    tokensUsed: 0,
    cost: 0,
    ...over,
  };
}

async function tell(url: string, dedupeKey = url, body: object = { n: 1 }): Promise<void> {
  const to: CallbackTarget = { url, secret };
  await callbacks.tell({
    subjectId: 'exe_1',
    event: 'execution.completed',
    dedupeKey,
    target: to,
    body,
  });
}

const deliveries = () => callbacks.deliveriesOf('exe_1');

describe('an address is refused before anything starts', () => {
  test.each([
    ['http://10.0.0.1/hook', 'egress_blocked', 'forbidden'],
    ['http://169.254.169.254/latest', 'egress_blocked', 'forbidden'],
    ['ftp://example.com/', 'invalid_callback', 'invalid'],
    ['http://user:pass@example.com/', 'invalid_callback', 'invalid'],
    ['nonsense', 'invalid_callback', 'invalid'],
  ])('%s', (url, reason, code) => {
    for (const field of ['onComplete', 'onError']) {
      expect(() => callbacks.check({ [field]: url })).toThrow(
        expect.objectContaining({ reason, code, detail: { param: field } }),
      );
    }
  });

  test('that is too long', () => {
    const onComplete = `https://example.com/${'x'.repeat(3_000)}`;
    expect(() => callbacks.check({ onComplete })).toThrow(/too long/);
  });

  test('and when it is dialled, though its name looked harmless', async () => {
    await using strict = await openGround({ isLoopbackAllowed: false });
    const own = strict.openCallbacks();
    await own.tell({
      subjectId: 'exe_1',
      event: 'execution.completed',
      dedupeKey: 'k',
      target: { url: target.origin.replace('127.0.0.1', 'localhost'), secret },
      body: {},
    });
    await own.settle();
    expect(await own.deliveriesOf('exe_1')).toMatchObject([
      { status: 'failed', attempts: 1, error: expect.stringContaining('egress_blocked') },
    ]);
    expect(target.arrivals).toEqual([]);
    await own[Symbol.asyncDispose]();
  });
});

describe('a receiver', () => {
  test('that fails is tried eight times over about an hour', async () => {
    const startMs = clock.ms;
    await tell(`${target.origin}/status/503`);
    await callbacks.settle();
    const gapsMs: number[] = [];
    for (let attempt = 2; attempt <= 8; attempt += 1) {
      const [delivery] = await deliveries();
      expect(delivery).toMatchObject({ status: 'pending', attempts: attempt - 1, answer: 503 });
      const dueMs = delivery?.dueAt.getTime() ?? 0;
      gapsMs.push(dueMs - clock.ms);
      clock.ms = dueMs - 1;
      await callbacks.settle();
      expect(target.arrivals).toHaveLength(attempt - 1);
      clock.ms = dueMs;
      await callbacks.settle();
    }
    expect(await deliveries()).toMatchObject([{ status: 'failed', attempts: 8, answer: 503 }]);
    clock.advance(24 * 60 * 60_000);
    await callbacks.settle();
    expect(target.arrivals).toHaveLength(8);
    expect(gapsMs).toEqual(gapsMs.toSorted((a, b) => a - b));
    const minutes = gapsMs.reduce((sum, gap) => sum + gap, 0) / 60_000;
    expect(minutes).toBeGreaterThan(50);
    expect(minutes).toBeLessThan(70);
    expect(clock.ms).toBeGreaterThan(startMs);
    expect(new Set(target.arrivals.map(({ headers }) => headers['x-ennead-delivery'])).size).toBe(
      1,
    );
    expect(target.arrivals.map(({ headers }) => headers['x-ennead-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
    ]);
  });

  test('that hangs, is away or dies is tried again', async () => {
    for (const url of [
      `${target.origin}/never`,
      `${target.origin}/destroy`,
      'http://127.0.0.1:9/',
    ]) {
      await tell(url);
    }
    await callbacks.settle();
    expect((await deliveries()).map(({ status }) => status)).toEqual(Array(3).fill('pending'));
  });

  test('that redirects gets nothing, nor does the place it points to', async () => {
    const query = new URLSearchParams({ status: '307', to: `${other.origin}/echo` });
    await tell(`${target.origin}/redirect?${query.toString()}`);
    await callbacks.settle();
    expect(await deliveries()).toMatchObject([
      { status: 'failed', attempts: 1, error: expect.stringContaining('redirect') },
    ]);
    expect(other.arrivals).toEqual([]);
  });

  test('that is gone for good is left alone', async () => {
    await tell(`${target.origin}/status/410`);
    await callbacks.settle();
    expect(await deliveries()).toMatchObject([{ status: 'failed', attempts: 1, answer: 410 }]);
  });

  test('gets one delivery at a time, and others need not wait for it', async () => {
    await tell(`${target.origin}/never`, 'a');
    await tell(`${target.origin}/never`, 'b');
    await tell(`${other.origin}/echo`, 'c');
    const settling = Promise.all([callbacks, open()].map((one) => one.settle()));
    await vi.waitFor(() => expect(other.arrivals).toHaveLength(1));
    await vi.waitFor(() => expect(target.arrivals).toHaveLength(1));
    await settling;
    expect(target.arrivals).toHaveLength(2);
  });

  test('knows by the signature that it comes from here, and when', async () => {
    await tell(`${target.origin}/echo`, 'k', { umlaut: 'ü' });
    await callbacks.settle();
    const [arrival] = target.arrivals;
    const { body = '', headers } = arrival ?? {};
    expect(JSON.parse(body)).toEqual({ umlaut: 'ü' });
    const header = String(headers?.['x-ennead-signature']);
    expect(header).toBe(sign(body, secret, Math.floor(clock.ms / 1_000)));
    const nowMs = clock.ms;
    expect(isSignature(header, body, { secret, nowMs })).toBe(true);
    expect(isSignature(header, `${body} `, { secret, nowMs })).toBe(false);
    expect(isSignature(header, body, { secret: 'another', nowMs })).toBe(false);
    expect(isSignature(header, body, { secret, nowMs: nowMs + 301_000 })).toBe(false);
  });
});

describe('a callback', () => {
  test('outlives the process that stored it', async () => {
    await tell(`${target.origin}/status/500`);
    await callbacks.settle();
    await callbacks[Symbol.asyncDispose]();
    clock.advance(10_000);
    await open().settle();
    expect(target.arrivals).toHaveLength(2);
  });

  test('whose process died while it sent is sent again by another', async () => {
    await tell(`${other.origin}/echo`);
    await callbacks.settle();
    // As a process leaves it that is killed before the answer is written down.
    await ground.database.query(
      `update workflow.callbacks set status = 'pending', claimed_until = $1::timestamptz,
         due_at = $1::timestamptz`,
      [new Date(clock.ms + 60_000)],
    );
    await open().settle();
    expect(other.arrivals).toHaveLength(1);
    clock.advance(60_001);
    await open().settle();
    expect(other.arrivals).toHaveLength(2);
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });

  test('keeps address and secret sealed', async () => {
    await tell(`${target.origin}/very-secret-path`, 'k');
    const rows = await ground.database.query('select * from workflow.callbacks');
    expect(JSON.stringify(rows)).not.toMatch(/very-secret|the secret of the caller/);
    expect(JSON.stringify(await deliveries())).not.toContain('very-secret');
  });

  test('of progress carries the newest state only', async () => {
    const to = { url: `${target.origin}/status/500`, secret };
    const progress = { subjectId: 'bat_1', event: 'batch.progress', dedupeKey: 'p' } as const;
    for (let n = 1; n <= 3; n += 1) {
      await callbacks.tell({ ...progress, target: to, body: { n }, replaces: true });
      await callbacks.settle();
    }
    clock.advance(10_000);
    await callbacks.settle();
    expect(target.arrivals.map(({ body }) => JSON.parse(body).n)).toEqual([1, 3]);
    await callbacks.supersede('p');
    clock.advance(24 * 60 * 60_000);
    await callbacks.settle();
    expect(target.arrivals).toHaveLength(2);
    expect(await callbacks.deliveriesOf('bat_1')).toMatchObject([{ status: 'superseded' }]);
  });
});

describe('an execution that ended', () => {
  test('is told to the address for its end, once however often the end is told', async () => {
    settings = { onComplete: `${target.origin}/done`, onError: `${target.origin}/failed`, secret };
    await callbacks.noteEnded(executionOf());
    await callbacks.noteEnded(executionOf());
    await callbacks.settle();
    await callbacks.noteEnded(executionOf({ status: 'failed', completedAtMs: 3 }));
    await callbacks.settle();
    await callbacks.noteEnded(executionOf({ status: 'failed', completedAtMs: 4 }));
    await callbacks.settle();
    expect(target.arrivals.map(({ path, headers }) => [path, headers['x-ennead-event']])).toEqual([
      ['/done', 'execution.completed'],
      ['/failed', 'execution.failed'],
      ['/failed', 'execution.failed'],
    ]);
  });

  test('without a secret of its own is signed with the workflow’s', async () => {
    settings = { onComplete: `${target.origin}/done` };
    await callbacks.noteEnded(executionOf());
    await callbacks.settle();
    const [arrival] = target.arrivals;
    const header = String(arrival?.headers['x-ennead-signature']);
    const options = { secret: 'secret of wfl_1', nowMs: clock.ms };
    expect(isSignature(header, arrival?.body ?? '', options)).toBe(true);
  });

  test('tells nobody where no address was given', async () => {
    settings = { onComplete: `${target.origin}/done` };
    await callbacks.noteEnded(executionOf({ status: 'cancelled' }));
    settings = undefined;
    await callbacks.noteEnded(executionOf());
    await callbacks.settle();
    expect(await deliveries()).toEqual([]);
  });
});

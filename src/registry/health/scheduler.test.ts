import { expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { OnDemandChecks } from './on-demand.ts';
import { HealthScheduler } from './scheduler.ts';
import { HealthSignals } from './signals.ts';
import { HealthGround } from './testing.ts';

/** A lease that is there or not. */
class StatedLease {
  fence: number | undefined;
  #listener: (isHeld: boolean) => void = () => {};

  onChange(listener: (isHeld: boolean) => void): void {
    this.#listener = listener;
  }

  state(fence: number | undefined): void {
    this.fence = fence;
    this.#listener(fence !== undefined);
  }
}

/** A scheduler whose time passes when the test says so. */
class ScheduleGround extends HealthGround {
  readonly lease = new StatedLease();
  readonly scheduler: HealthScheduler;
  /** Every time a timer was set, in milliseconds from then. */
  readonly waits: number[] = [];
  #timer: { readonly atMs: number; readonly callback: () => void } | undefined;

  constructor(concurrency = 16) {
    super();
    const { directory, checker, ledger, lease, now } = this;
    this.scheduler = new HealthScheduler({
      directory,
      checker,
      ledger,
      lease,
      concurrency,
      log: silentLog,
      now,
      wait: (waitMs, callback) => {
        this.waits.push(waitMs);
        this.#timer = { atMs: this.nowMs + waitMs, callback };
        return () => {
          this.#timer = undefined;
        };
      },
    });
  }

  start(): void {
    this.scheduler.start();
    this.lease.state(1);
  }

  /** Timers do not go by the clock. */
  setBack(seconds: number): void {
    this.nowMs -= seconds * 1000;
    if (this.#timer) this.#timer = { ...this.#timer, atMs: this.#timer.atMs - seconds * 1000 };
  }

  /** Lets time pass; what is found is written before it goes on. */
  async pass(seconds: number): Promise<void> {
    const endMs = this.nowMs + seconds * 1000;
    for (;;) {
      await settle();
      const timer = this.#timer;
      if (!timer || timer.atMs > endMs) break;
      this.#timer = undefined;
      this.nowMs = Math.max(timer.atMs, this.nowMs);
      timer.callback();
      await settle();
      await this.ledger.flush();
    }
    this.nowMs = endMs;
  }
}

/** Servers in memory answer within a turn. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('a new connection is checked at once, then by its interval, and a changed one counts at once', async () => {
  const ground = new ScheduleGround();
  ground.start();
  ground.add('c');
  await ground.pass(1);
  expect(ground.links.asked).toHaveLength(1);
  expect(ground.get('c').health.status).toBe('healthy');
  await ground.pass(300);
  expect(ground.links.asked.length).toBeGreaterThanOrEqual(11);
  expect(ground.links.asked.length).toBeLessThanOrEqual(12);
  ground.links.asked.length = 0;
  ground.change('c', { healthCheck: { enabled: true, interval: 1, timeout: 50 } });
  await ground.pass(10);
  expect(ground.links.asked.length).toBeGreaterThanOrEqual(10);
  expect(ground.links.asked.length).toBeLessThanOrEqual(13);
});

test('the clock may be set back by days, and checks go on by their interval', async () => {
  const ground = new ScheduleGround();
  ground.start();
  ground.add('c');
  await ground.pass(60);
  ground.setBack(8 * 86_400);
  await ground.pass(60);
  ground.links.asked.length = 0;
  await ground.pass(300);
  expect(ground.links.asked.length).toBeGreaterThanOrEqual(9);
  expect(ground.links.asked.length).toBeLessThanOrEqual(12);
});

test('while nothing is due nothing runs: one timer stands for ten thousand connections', async () => {
  const ground = new ScheduleGround();
  const health = {
    status: 'healthy',
    checksPerformed: 1,
    failedChecks: 0,
    failuresInRow: 0,
  } as const;
  const healthCheck = { enabled: true, interval: 3_600, timeout: 50 };
  for (let at = 0; at < 10_000; at += 1) {
    ground.add(`c${at}`, { healthCheck, health: { ...health, lastCheckMs: ground.nowMs } });
  }
  ground.start();
  await ground.pass(3_000);
  expect(ground.scheduler.size).toBe(10_000);
  expect(ground.waits).toHaveLength(1);
  expect(ground.waits[0]).toBeGreaterThan(3_000_000);
  await ground.pass(600);
  expect(new Set(ground.links.asked).size).toBe(10_000);
  expect(ground.links.asked).toHaveLength(10_000);
});

test('three failures in a row are known within twelve seconds, then it is asked ever less often', async () => {
  const ground = new ScheduleGround();
  ground.start();
  ground.links.conducts.set('c', 'is unreachable');
  ground.add('c', { healthCheck: { enabled: true, interval: 3_600, timeout: 50 } });
  await ground.pass(12);
  expect(ground.get('c')).toMatchObject({ status: 'error', health: { status: 'error' } });
  ground.change('c', { healthCheck: { enabled: true, interval: 1, timeout: 50 } });
  ground.links.asked.length = 0;
  await ground.pass(1_200);
  expect(ground.links.asked.length).toBeGreaterThan(8);
  expect(ground.links.asked.length).toBeLessThan(16);
  ground.links.conducts.delete('c');
  ground.change('c', { endpoint: { url: 'http://moved.test/mcp' } });
  await ground.pass(0.1);
  expect(ground.get('c')).toMatchObject({ status: 'active', health: { status: 'healthy' } });
});

test('no more checks run at the same time than may, and those that hang do not stop the others', async () => {
  const ground = new ScheduleGround(4);
  const healthCheck = { enabled: true, interval: 30, timeout: 600_000 };
  for (const id of ['h1', 'h2', 'h3']) {
    ground.links.conducts.set(id, 'hangs');
    ground.add(id, { healthCheck });
  }
  for (let at = 0; at < 50; at += 1) ground.add(`c${at}`);
  ground.start();
  await ground.pass(1);
  for (let turn = 0; turn < 60; turn += 1) await settle();
  expect(new Set(ground.links.asked).size).toBe(53);
  ground.checker[Symbol.dispose]();
  await ground.scheduler[Symbol.asyncDispose]();
});

test('only who holds the lease checks; who takes it over does not check all at once', async () => {
  const ground = new ScheduleGround();
  ground.scheduler.start();
  for (let at = 0; at < 300; at += 1) ground.add(`c${at}`);
  await ground.pass(100);
  expect(ground.links.asked).toEqual([]);
  ground.lease.state(1);
  await ground.pass(1);
  expect(ground.links.asked).toHaveLength(300);
  ground.lease.state(undefined);
  ground.scheduler.checkSoon('c0');
  await ground.pass(1_000);
  expect(ground.links.asked).toHaveLength(300);
  ground.lease.state(2);
  await ground.pass(3);
  expect(ground.links.asked.length).toBeGreaterThan(300);
  expect(ground.links.asked.length).toBeLessThan(400);
  await ground.pass(28);
  expect(ground.links.asked.length).toBeGreaterThanOrEqual(600);
});

test('a connection that goes is checked no more', async () => {
  const ground = new ScheduleGround();
  ground.start();
  ground.add('c');
  await ground.pass(1);
  ground.change('c', { status: 'disconnected' });
  await ground.pass(1_000);
  expect(ground.links.asked).toEqual(['c']);
  expect(ground.scheduler.size).toBe(0);
});

test('an idle process is left alone until somebody needs it', async () => {
  const ground = new ScheduleGround();
  ground.start();
  ground.add('c', { protocol: 'stdio', endpoint: { command: 'server', args: [] } });
  await ground.pass(1);
  ground.change('c', { status: 'idle' });
  await ground.pass(1_000);
  expect(ground.links.asked).toEqual(['c']);
  ground.change('c', { status: 'active' });
  await ground.pass(1);
  expect(ground.links.asked).toEqual(['c', 'c']);
});

test('calls that fail have the connection checked, a hundred of them once, and a call that succeeds mends', async () => {
  const ground = new ScheduleGround();
  ground.start();
  const { directory, ledger, scheduler, now } = ground;
  const signals = new HealthSignals({ directory, ledger, scheduler, now });
  ground.add('c');
  await ground.pass(1);
  ground.links.conducts.set('c', 'is unreachable');
  for (let count = 0; count < 100; count += 1) signals.notePassive('c', 'error');
  await ground.pass(0.1);
  expect(ground.links.asked).toHaveLength(2);
  expect(ground.get('c')).toMatchObject({
    status: 'active',
    health: { status: 'degraded', failuresInRow: 2, checksPerformed: 2 },
  });
  await ground.pass(6);
  expect(ground.get('c').status).toBe('error');
  signals.notePassive('c', 'success');
  signals.notePassive('unknown', 'error');
  await ledger.flush();
  expect(ground.get('c')).toMatchObject({ status: 'active', health: { status: 'healthy' } });
  const { length } = ground.statements;
  signals.notePassive('c', 'success');
  await ledger.flush();
  expect(ground.statements).toHaveLength(length);
});

test('a link that breaks has its connection checked, unless nobody uses it', async () => {
  const ground = new ScheduleGround();
  ground.start();
  const { directory, ledger, scheduler, links, now } = ground;
  const stop = new HealthSignals({ directory, ledger, scheduler, now }).follow(links);
  ground.add('used');
  ground.add('idle', { status: 'idle' });
  await ground.pass(1);
  links.breakLink('used');
  links.breakLink('idle');
  await ground.pass(0.1);
  expect(links.asked).toEqual(['used', 'idle', 'used']);
  stop();
  ground.nowMs += 20_000;
  links.breakLink('used');
  await ledger.flush();
  expect(ground.get('used').health.failuresInRow).toBe(0);
});

test('many at once are answered in order and in time, and who waited too briefly harms nobody', async () => {
  const ground = new ScheduleGround();
  const checks = new OnDemandChecks(ground);
  ground.add('up');
  ground.links.conducts.set('down', 'is unreachable');
  ground.add('down');
  const healthCheck = { enabled: true, interval: 30, timeout: 600_000 };
  const hanging = Array.from({ length: 200 }, (_, at) => `h${at}`);
  for (const id of hanging) {
    ground.links.conducts.set(id, 'hangs');
    ground.add(id, { healthCheck });
  }
  const begunMs = performance.now();
  const results = await checks.checkMany(['up', 'nobody', 'down', 'up', ...hanging], 100);
  expect(performance.now() - begunMs).toBeLessThan(2_000);
  expect(results.slice(0, 5)).toEqual([
    { connectionId: 'up', status: 'healthy', responseTime: expect.any(Number) },
    { connectionId: 'nobody', status: 'error', error: 'no such connection' },
    {
      connectionId: 'down',
      status: 'degraded',
      error: 'unreachable: no MCP server answered there',
    },
    { connectionId: 'up', status: 'healthy', responseTime: expect.any(Number) },
    { connectionId: 'h0', status: 'error', error: 'no verdict within 100 ms' },
  ]);
  expect(results).toHaveLength(204);
  expect(ground.get('up').health.checksPerformed).toBe(1);
  expect(ground.get('h0').health.checksPerformed).toBe(0);
  ground.checker[Symbol.dispose]();
});

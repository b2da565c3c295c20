import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Bus, BusEvent, Gap } from './bus.ts';
import { openBus } from './open-bus.ts';
import { findNatsServer, startNatsServer, type NatsServer } from './testing.ts';

const program = findNatsServer(process.env.ENNEAD_TEST_NATS_SERVER);
const log = pino({ level: 'silent' });

describe('the local bus', () => describeBus(async () => undefined));

describe.skipIf(!program)('the NATS bus (skipped when there is no nats-server)', () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer(program ?? '');
  });
  afterAll(() => server[Symbol.asyncDispose]());
  describeBus(async () => server.url);
});

/** What every bus promises, whatever carries it. */
function describeBus(findUrl: () => Promise<string | undefined>): void {
  let bus: Bus;
  let count = 0;
  const nextName = (): string => `topic-${++count}.test`;

  beforeAll(async () => {
    bus = await openBus({ url: await findUrl(), log });
  });
  afterAll(() => bus[Symbol.asyncDispose]());

  test('a value that is no JSON is refused', async () => {
    const topic = bus.topic<unknown>(nextName());
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const value of [undefined, () => 1, circular, 1n]) {
      await expect(topic.publish(value)).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  test('an event above the size limit is refused, one at the limit is not', async () => {
    const topic = bus.topic<string>(nextName());
    const largest = 'x'.repeat(512 * 1024 - 2);
    await expect(topic.publish(`${largest}x`)).rejects.toMatchObject({ code: 'too_large' });
    await expect(topic.publish('é'.repeat(300_000))).rejects.toMatchObject({ code: 'too_large' });
    await expect(topic.publish(largest)).resolves.toBeGreaterThan(0);
  });

  test('a place that is no sequence number is refused', async () => {
    const topic = bus.topic<number>(nextName());
    for (const after of [-1, 1.5, Number.NaN, 2 ** 53]) {
      const subscribing = topic.subscribe(() => {}, { after });
      await expect(subscribing).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  test('a topic name or a limit that no server could keep is refused', () => {
    for (const name of ['', 'A', 'a b', 'a.*', 'a..b', '>', 'a_b', 'x'.repeat(101)]) {
      expect(() => bus.topic(name)).toThrow(TypeError);
    }
    for (const limit of [{ retainCount: 0 }, { retainSeconds: 0 }, { retainCount: 1.5 }]) {
      expect(() => bus.topic(nextName(), limit)).toThrow(TypeError);
    }
  });

  test('a handler that throws or rejects harms neither the publisher nor other handlers', async () => {
    const topic = bus.topic<number>(nextName());
    const record = createRecord<number>();
    const failing = await topic.subscribe(() => {
      throw new Error('broken handler');
    });
    await topic.subscribe(rejecting);
    await topic.subscribe(record.handler);
    await topic.publish(1);
    await topic.publish(2);
    await vi.waitFor(() => expect(record.values()).toEqual([1, 2]), 10_000);
    await failing.close();
  });

  test('events arrive in order with rising numbers, and without place only the new ones', async () => {
    const topic = bus.topic<number>(nextName());
    await topic.publish(0);
    const record = createRecord<number>();
    await topic.subscribe(record.handler);
    const before = Date.now() - 1000;
    const seqs = [];
    for (const value of [1, 2, 3]) seqs.push(await topic.publish(value));
    await vi.waitFor(() => expect(record.values()).toEqual([1, 2, 3]), 10_000);
    expect(record.events.map((event) => event.seq)).toEqual(seqs);
    expect(seqs.toSorted((a, b) => a - b)).toEqual(seqs);
    expect(record.events[0]?.publishedAt).toBeGreaterThan(before);
    expect(await topic.lastSeq()).toBe(seqs.at(-1));
  });

  test('an event has the shape of its JSON, and what its publisher does to it later changes nothing', async () => {
    const topic = bus.topic<object>(nextName());
    const before = await topic.lastSeq();
    const plain: Record<string, unknown> = { name: 'one', count: 1.5, isNew: true };
    const odd = { none: undefined, nothing: null, endless: Infinity, zero: -0, inner: { at: [1] } };
    for (const value of [plain, odd, new Date(0), ['list']]) await topic.publish(value);
    plain['name'] = 'another';
    odd.inner.at.push(2);
    const record = createRecord<object>();
    await topic.subscribe(record.handler, { after: before });
    await vi.waitFor(() => expect(record.events).toHaveLength(4), 10_000);
    expect(record.values()).toStrictEqual([
      { name: 'one', count: 1.5, isNew: true },
      { nothing: null, endless: null, zero: 0, inner: { at: [1] } },
      '1970-01-01T00:00:00.000Z',
      ['list'],
    ]);
  });

  test('a subscriber that names its place gets what it missed, then what is new, none twice', async () => {
    const topic = bus.topic<number>(nextName());
    const seqs = [];
    for (const value of [1, 2, 3]) seqs.push(await topic.publish(value));
    const record = createRecord<number>();
    await topic.subscribe(record.handler, { after: seqs[0], onGap: record.onGap });
    await topic.publish(4);
    await vi.waitFor(() => expect(record.values()).toEqual([2, 3, 4]), 10_000);
    expect(record.gaps).toEqual([]);
  });

  test('publishing while another subscribes loses nothing and repeats nothing', async () => {
    const topic = bus.topic<number>(nextName());
    const first = await topic.publish(0);
    const record = createRecord<number>();
    const publishing = Array.from({ length: 300 }, (_, i) => topic.publish(i + 1));
    await topic.subscribe(record.handler, { after: first });
    await Promise.all(publishing);
    await vi.waitFor(() => expect(record.events).toHaveLength(300), { timeout: 30_000 });
    expect(new Set(record.values()).size).toBe(300);
  });

  test('a place before what is retained is told as a gap, then the rest follows', async () => {
    const topic = bus.topic<number>(nextName(), { retainCount: 3 });
    const seqs: number[] = [];
    for (let value = 0; value < 10; value++) seqs.push(await topic.publish(value));
    const record = createRecord<number>();
    await topic.subscribe(record.handler, { after: seqs[0], onGap: record.onGap });
    await vi.waitFor(() => expect(record.values()).toEqual([7, 8, 9]), 10_000);
    expect(record.gaps).toEqual([{ from: seqs[1], to: seqs[6] }]);
  });

  test('a place that this bus never gave is told as a gap from 0, then everything follows', async () => {
    const topic = bus.topic<number>(nextName());
    const first = await topic.publish(1);
    await topic.publish(2);
    const record = createRecord<number>();
    await topic.subscribe(record.handler, { after: 2 ** 53 - 1, onGap: record.onGap });
    await vi.waitFor(() => expect(record.values()).toEqual([1, 2]), 10_000);
    expect(record.gaps).toEqual([{ from: 0, to: first - 1 }]);
  });

  test('a gap on a topic that holds nothing leaves the subscriber at its end', async () => {
    const topic = bus.topic<number>(nextName());
    const record = createRecord<number>();
    await topic.subscribe(record.handler, { after: 2 ** 53 - 1, onGap: record.onGap });
    const seq = await topic.publish(1);
    await vi.waitFor(() => expect(record.values()).toEqual([1]), 10_000);
    expect(record.gaps).toEqual([{ from: 0, to: seq - 1 }]);
  });

  test('a closed subscription is never called again', async () => {
    const topic = bus.topic<number>(nextName());
    const closed = createRecord<number>();
    const open = createRecord<number>();
    const subscription = await topic.subscribe(closed.handler);
    await topic.subscribe(open.handler);
    await topic.publish(1);
    await vi.waitFor(() => expect(closed.values()).toEqual([1]), 10_000);
    await subscription.close();
    await subscription.close();
    await topic.publish(2);
    await vi.waitFor(() => expect(open.values()).toEqual([1, 2]), 10_000);
    expect(closed.values()).toEqual([1]);
  });

  test('a handler may publish, subscribe and unsubscribe, and all still see one order', async () => {
    const topic = bus.topic<string>(nextName());
    const late = createRecord<string>();
    const other = createRecord<string>();
    const own: string[] = [];
    const actions: Promise<unknown>[] = [];
    const subscription = await topic.subscribe(({ data, seq }) => {
      own.push(data);
      if (data !== 'first') return;
      actions.push(topic.publish('second'), topic.subscribe(late.handler, { after: seq - 1 }));
      actions.push(subscription.close());
    });
    await topic.subscribe(other.handler);
    await topic.publish('first');
    await vi.waitFor(() => expect(other.values()).toEqual(['first', 'second']), 10_000);
    await vi.waitFor(() => expect(late.values()).toEqual(['first', 'second']), 10_000);
    expect(own).toEqual(['first']);
    await Promise.all(actions);
  });

  test('a later change to a published object does not change the event', async () => {
    const topic = bus.topic<{ name: string }>(nextName());
    const record = createRecord<{ name: string }>();
    const value = { name: 'as published' };
    const seq = await topic.publish(value);
    value.name = 'changed';
    await topic.subscribe(record.handler, { after: seq - 1 });
    await vi.waitFor(() => expect(record.values()).toEqual([{ name: 'as published' }]), 10_000);
  });

  test('topics do not see each other', async () => {
    const [name, other] = [nextName(), nextName()];
    const record = createRecord<number>();
    await bus.topic<number>(name).subscribe(record.handler);
    await bus.topic<number>(other).publish(1);
    await bus.topic<number>(name).publish(2);
    await vi.waitFor(() => expect(record.values()).toEqual([2]), 10_000);
  });

  test('a topic named again without limits keeps those it has', async () => {
    const name = nextName();
    const limited = bus.topic<number>(name, { retainCount: 2 });
    const first = await limited.publish(1);
    const again = bus.topic<number>(name);
    for (const value of [2, 3]) await again.publish(value);
    const record = createRecord<number>();
    await again.subscribe(record.handler, { after: first - 1, onGap: record.onGap });
    await vi.waitFor(() => expect(record.values()).toEqual([2, 3]), 10_000);
    expect(record.gaps).toEqual([{ from: first, to: first }]);
  });

  test('the bus answers a ping, and a closed one is unavailable', async () => {
    const closing = await openBus({ url: await findUrl(), log });
    const topic = closing.topic<number>(nextName());
    await topic.subscribe(() => {}, { after: 0, onGap: () => {} });
    expect(await closing.ping()).toBeGreaterThanOrEqual(0);
    await closing[Symbol.asyncDispose]();
    await closing[Symbol.asyncDispose]();
    const attempts = [closing.ping(), topic.publish(1), topic.subscribe(() => {}), topic.lastSeq()];
    for (const attempt of await Promise.allSettled(attempts)) {
      expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    }
  });
}

// The type of a handler admits an async function, whose rejection must be caught.
const rejecting = (() => Promise.reject(new Error('broken handler'))) as () => void;

function createRecord<T>() {
  const events: BusEvent<T>[] = [];
  const gaps: Gap[] = [];
  return {
    events,
    gaps,
    handler: (event: BusEvent<T>): void => void events.push(event),
    onGap: (gap: Gap): void => void gaps.push(gap),
    values: (): T[] => events.map((event) => event.data),
  };
}

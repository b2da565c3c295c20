import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Bus, BusEvent, Gap, Topic } from './bus.ts';
import { openBus } from './open-bus.ts';
import { openNatsBus } from './nats-bus.ts';
import { Outlet } from './outlet.ts';
import { findNatsServer, openSlowPath, startNatsServer, type NatsServer } from './testing.ts';

const log = pino({ level: 'silent' });
const program = findNatsServer(process.env.ENNEAD_TEST_NATS_SERVER) ?? '';
const owned: AsyncDisposable[] = [];

afterEach(async () => {
  for (const resource of owned.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

describe('opening', () => {
  test('an address that cannot be one is refused without repeating its password', async () => {
    for (const url of ['', 'localhost:4222', 'http://u:hunter2@h', 'nats://u:hunter2@h:port']) {
      const error = await openBus({ url, log }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'invalid' });
      expect(String(error)).not.toContain('hunter2');
    }
  });

  test('a server that cannot be reached makes the bus unavailable, and no password is told', async () => {
    const error = await openBus({ url: 'nats://u:hunter2@127.0.0.1:1', log }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(String(error)).toContain('127.0.0.1:1');
    expect(String(error)).not.toContain('hunter2');
  });

  test('a server older than 2.9 is refused by its version', async () => {
    const url = await greetAs({ version: '2.8.4', max_payload: 1048576, proto: 1, headers: true });
    await expect(openBus({ url, log })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'NATS server 2.8.4 is too old: the event bus needs 2.9 or newer',
    });
  });
});

describe.skipIf(!program)('with a nats-server (skipped when there is none)', () => {
  test('a server without JetStream is refused with what to do about it', async () => {
    const { url } = await startServer([]);
    const message = expect.stringContaining('start it with -js');
    await expect(openBus({ url, log })).rejects.toMatchObject({ code: 'unavailable', message });
  });

  test('credentials in the address are used, and wrong ones are refused', async () => {
    const byUser = await startServer(['-js', '--user', 'ann', '--pass', 'p@ss word']);
    const byToken = await startServer(['-js', '--auth', 'secret-token']);
    const urls = [
      `nats://ann:p%40ss%20word@127.0.0.1:${byUser.port}`,
      `nats://secret-token@127.0.0.1:${byToken.port}`,
    ];
    for (const url of urls) expect(await (await open(url)).ping()).toBeGreaterThan(0);
    const wrong = `nats://ann:wrong@127.0.0.1:${byUser.port}`;
    await expect(openBus({ url: wrong, log })).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('a password reaches no log line, also while the server is away', async () => {
    const lines: string[] = [];
    const noisy = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const server = await startServer(['-js', '--user', 'ann', '--pass', 'hunter2']);
    const bus = await openBus({ url: `nats://ann:hunter2@127.0.0.1:${server.port}`, log: noisy });
    owned.push(bus);
    await server.restart();
    await bus.topic('t').publish(1);
    expect(lines.join('')).toContain('lost its server');
    expect(lines.join('')).not.toContain('hunter2');
  });

  test('two connections see the same events in the same order with the same numbers', async () => {
    const { url } = await startServer();
    const topics = [(await open(url)).topic<string>('t'), (await open(url)).topic<string>('t')];
    const records = await Promise.all(topics.map(async (topic) => record(topic)));
    await Promise.all(
      topics.flatMap((topic, who) =>
        Array.from({ length: 100 }, (_, i) => topic.publish(`${who}-${i}`)),
      ),
    );
    for (const { events } of records)
      await vi.waitFor(() => expect(events).toHaveLength(200), 10_000);
    expect(records[0]?.events).toEqual(records[1]?.events);
    expect(records[0]?.events.map(({ seq }) => seq)).toEqual(range(1, 200));
  });

  test('events reach everybody at once, however long they have listened', async () => {
    const { url } = await startServer();
    const topic = (await open(url)).topic<number>('t');
    const listening = await open(url);
    const records = await Promise.all(
      range(1, 100).map(() => record(listening.topic<number>('t'))),
    );
    // What a subscription asks of a server for some time ends at such times: 10 s are a usual one.
    await delay(9_500);
    for (const value of range(1, 150)) {
      await topic.publish(value);
      await delay(10);
    }
    const counts = () => new Set(records.map(({ events }) => events.length));
    await vi.waitFor(() => expect(counts()).toEqual(new Set([150])), 3_000);
  });

  test('a kill -9 of the server loses no event and repeats none', async () => {
    const server = await startServer();
    const topic = (await open(server.url)).topic<number>('t');
    const { events, gaps } = await record((await open(server.url)).topic<number>('t'));
    for (const value of range(1, 20)) await topic.publish(value);
    await server.kill();
    const during = range(21, 40).map((value) => topic.publish(value));
    await server.restart();
    await Promise.all(during);
    for (const value of range(41, 60)) await topic.publish(value);
    await vi.waitFor(() => expect(events).toHaveLength(60), { timeout: 30_000 });
    expect(events.map(({ seq }) => seq)).toEqual(range(1, 60));
    expect(events.map(({ data }) => data)).toEqual(range(1, 60));
    expect(gaps).toEqual([]);
  });

  test('what is published while the server goes and comes back arrives in its order', async () => {
    const server = await startServer();
    const topic = (await open(server.url)).topic<number>('t');
    const { events } = await record((await open(server.url)).topic<number>('t'));
    const published: Promise<number>[] = [];
    let restarted: Promise<void> | undefined;
    for (const value of range(1, 200)) {
      published.push(topic.publish(value));
      if (value === 60) restarted = server.restart();
      await delay(5);
    }
    await restarted;
    await Promise.all(published);
    await vi.waitFor(() => expect(events.length).toBeGreaterThanOrEqual(200), { timeout: 30_000 });
    expect(events.map(({ data }) => data)).toEqual(range(1, 200));
  });

  test('who is patient is served when the server is back, in order, after those who are not failed', async () => {
    const server = await startServer();
    const bus = await openNatsBus({ url: server.url, log, timeoutMs: 300 });
    owned.push(bus);
    const topic = bus.topic<number>('t');
    const { events } = await record(topic);
    await topic.publish(1);
    await server.kill();
    const outlet = new Outlet({ topic, what: 'numbers', log, patienceMs: Infinity });
    outlet.tell(2);
    await expect(topic.publish(3)).rejects.toMatchObject({ code: 'unavailable' });
    for (const value of [4, 5]) outlet.tell(value);
    await delay(600);
    await server.restart();
    await vi.waitFor(() => expect(events).toHaveLength(4), 10_000);
    expect(events.map(({ data }) => data)).toEqual([1, 2, 4, 5]);
  });

  test('what waits for a server that is away is bounded, and fails when the bus is closed', async () => {
    const server = await startServer();
    const bus = await openNatsBus({ url: server.url, log });
    owned.push(bus);
    const topic = bus.topic<string>('t');
    await topic.publish('first');
    await server.kill();
    const large = 'x'.repeat(500_000);
    const publish = () => topic.publish(large, { patienceMs: Infinity });
    const waiting = range(1, 33).map(publish);
    await expect(publish()).rejects.toMatchObject({ code: 'unavailable' });
    const ends = Promise.allSettled(waiting);
    await bus[Symbol.asyncDispose]();
    expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });

  test('an event whose answer comes too late is tried again, but stored once', async () => {
    const server = await startServer();
    const path = await openSlowPath(server.port);
    owned.push(path);
    const topic = (await open(path.url)).topic<string>('t');
    await topic.publish('first');
    // The stream is looked for again when an attempt has failed.
    path.holdUntil('STREAM.INFO');
    expect(await topic.publish('second')).toBe(2);
    expect(await topic.publish('third')).toBe(3);
  });

  test('a server that lost its storage is told as a gap from 0, and the bus goes on', async () => {
    const server = await startServer();
    const topic = (await open(server.url)).topic<string>('t');
    const { events, gaps } = await record((await open(server.url)).topic<string>('t'));
    for (const value of ['a', 'b', 'c']) await topic.publish(value);
    await vi.waitFor(() => expect(events).toHaveLength(3), 10_000);
    await server.restart({ isStorageLost: true });
    await topic.publish('d');
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ seq: 1, data: 'd' }), 10_000);
    expect(gaps).toEqual([{ from: 0, to: 0 }]);
  });

  test('publish, subscribe and ping tell within their deadline that the server is gone', async () => {
    const server = await startServer();
    const bus = await openNatsBus({ url: server.url, log, timeoutMs: 300 });
    owned.push(bus);
    const topic = bus.topic<number>('t');
    await topic.publish(1);
    expect(bus.isConnected).toBe(true);
    await server.kill();
    const attempts = [topic.publish(2), topic.subscribe(() => {}), topic.lastSeq(), bus.ping()];
    for (const attempt of await Promise.allSettled(attempts)) {
      expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    }
    expect(bus.isConnected).toBe(false);
    await server.restart();
    await expect.poll(() => bus.isConnected, { timeout: 10_000 }).toBe(true);
  });

  test('a subscription and its bus close while the server is away', async () => {
    const server = await startServer();
    const bus = await openBus({ url: server.url, log });
    const { subscription } = await record(bus.topic<number>('t'));
    await server.kill();
    await subscription.close();
    await expect(bus[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  test('an existing stream with other limits is adopted, and one without wishes is left', async () => {
    const { url } = await startServer();
    const limits = { retainCount: 50, retainSeconds: 5 };
    await (await open(url)).topic<number>('a.b', { retainCount: 100 }).publish(1);
    await (await open(url)).topic<number>('a.b', limits).publish(2);
    await (await open(url)).topic<number>('a.b').publish(3);
    const { config, state } = await inspectStream(url, 'ennead-a_b');
    expect(config).toMatchObject({ max_msgs: 50, max_age: 5e9, subjects: ['ennead.a.b'] });
    expect(config).toMatchObject({ storage: 'file', retention: 'limits', discard: 'old' });
    expect(state.messages).toBe(3);
  });

  test('an event that a stranger wrote and that is no JSON is stepped over', async () => {
    const { url } = await startServer();
    const topic = (await open(url)).topic<number>('t');
    const { events, gaps } = await record(topic);
    await topic.publish(1);
    const stranger = await connect({ servers: url });
    stranger.publish('ennead.t', 'no json');
    await stranger.drain();
    await vi.waitFor(async () => expect(await topic.lastSeq()).toBe(2), 10_000);
    await topic.publish(3);
    await vi.waitFor(() => expect(events.map(({ data }) => data)).toEqual([1, 3]), 10_000);
    expect(gaps).toEqual([{ from: 2, to: 2 }]);
  });
});

async function startServer(flags?: string[]): Promise<NatsServer> {
  const server = await startNatsServer(program, flags);
  owned.push(server);
  return server;
}

async function open(url: string): Promise<Bus> {
  const bus = await openBus({ url, log });
  owned.push(bus);
  return bus;
}

async function record<T>(topic: Topic<T>) {
  const events: BusEvent<T>[] = [];
  const gaps: Gap[] = [];
  const onGap = (gap: Gap): void => void gaps.push(gap);
  const subscription = await topic.subscribe((event) => void events.push(event), { onGap });
  return { events, gaps, subscription };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

async function inspectStream(url: string, name: string) {
  const connection = await connect({ servers: url });
  const found = await (await jetstreamManager(connection)).streams.info(name);
  await connection.close();
  return found;
}

/** A server that says this about itself and answers nothing but pings. */
async function greetAs(greeting: Record<string, unknown>): Promise<string> {
  const server = createServer((socket) => {
    socket.write(`INFO ${JSON.stringify(greeting)}\r\n`);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (String(chunk).includes('PING')) socket.write('PONG\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  owned.push({ [Symbol.asyncDispose]: async () => void server.close() });
  // A listening TCP server has an address object.
  return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

import { Type } from 'typebox';
import { afterEach, describe, expect, test } from 'vitest';
import type { Retention, Topic } from '../bus/bus.ts';
import { LocalBus } from '../bus/local-bus.ts';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { createTestServer, listenAnywhere, silentLog } from '../testing.ts';
import { serveSubscription, subscribeFields } from './subscription.ts';
import { TestClient } from './testing.ts';
import { SharedFrames } from './text-frames.ts';

const subscribe = Type.Object({
  ...subscribeFields,
  filters: Type.Optional(Type.Object({ colours: Type.Array(Type.String()) })),
});

const contract = {
  name: 'paint',
  title: 'Paint',
  version: '1.0.0',
  description: 'Streams paint.',
  error: plainEnvelope.schema,
  routes: {},
  sockets: {
    asked: { url: '/asked', summary: 'Paint on demand', subscribe, event: Type.Unknown() },
    shared: { url: '/shared', summary: 'Paint that is encoded once', event: Type.Unknown() },
    immediate: { url: '/immediate', summary: 'All paint', event: Type.Unknown() },
  },
} as const satisfies Contract;

interface Drop {
  readonly colour: string;
  readonly weight?: string;
}

interface Coverage {
  readonly type: string;
  readonly seq: number;
  readonly from: number;
  readonly to: number;
}

const heavy = { colour: 'red', weight: 'x'.repeat(400_000) };
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(retention: Retention = {}, change = (topic: Topic<Drop>) => topic) {
  const bus = new LocalBus({ log: silentLog });
  const topic = change(bus.topic<Drop>('drops', retention));
  const socketLimits = { queuedBytesMax: 64 * 1024 };
  const { http, issuer } = await createTestServer(contract, { socketLimits });
  const toMessage = ({ data }: { data: Drop }) =>
    data.colour === 'hidden' ? undefined : { type: 'drop', colour: data.colour };
  const frames = new SharedFrames();
  http.serveSockets(contract, {
    shared: (connection) =>
      serveSubscription(connection, { topic, toMessage: ({ data }) => data, frames }),
    asked: (connection) =>
      serveSubscription(connection, {
        topic,
        subscribe,
        filter:
          ({ filters }) =>
          ({ colour }) =>
            filters?.colours.includes(colour) ?? true,
        toMessage: (event) =>
          event.data.weight ? { ...toMessage(event), weight: event.data.weight } : toMessage(event),
      }),
    immediate: (connection) => {
      const after = connection.query.get('after');
      const immediate = after ? { after: Number(after) } : {};
      serveSubscription(connection, { topic, immediate, toMessage });
    },
  });
  const url = await listenAnywhere(http);
  closers.push(
    () => bus[Symbol.asyncDispose](),
    () => http.close(1_000),
  );
  const headers = { authorization: `Bearer ${await issuer.sign()}` };
  const open = (path: string) => new TestClient(url + path, { headers }).opened();
  return { topic, open };
}

/** Subscribes and waits until that is in force; answers the seq that it is behind. */
async function subscribeNow(client: TestClient, message: object = {}): Promise<number> {
  client.send({ action: 'subscribe', ack: true, ...message });
  const answer = await client.next();
  expect(answer).toEqual({ type: 'subscribed', seq: expect.any(Number) });
  return (answer as { seq: number }).seq;
}

/** Reads until `last` is accounted for; fails unless each seq is, in order, by an event or a gap. */
async function readUntil(client: TestClient, first: number, last: number): Promise<Coverage[]> {
  const messages: Coverage[] = [];
  let expected = first;
  while (expected <= last) {
    const message = (await client.next()) as Coverage;
    messages.push(message);
    const [from, to] =
      message.type === 'gap' ? [message.from, message.to] : [message.seq, message.seq];
    expect(from).toBe(expected);
    expect(to).toBeGreaterThanOrEqual(from);
    expected = to + 1;
  }
  return messages;
}

async function publish(topic: Topic<Drop>, drop: Drop, count: number): Promise<number> {
  let seq = 0;
  for (let published = 0; published < count; published += 1) seq = await topic.publish(drop);
  return seq;
}

describe('a malformed message', () => {
  test('is answered with the reason, and what was subscribed goes on', async () => {
    const { topic, open } = await start();
    const client = await open('/asked');
    await subscribeNow(client);
    client.socket.send('{"action":');
    expect(await client.next()).toMatchObject({ type: 'error', error: { code: 'INVALID_JSON' } });
    client.send({ action: 'subscribe', after: -1 });
    expect(await client.next()).toMatchObject({
      type: 'error',
      error: { message: expect.stringContaining('message.after') },
    });
    await topic.publish({ colour: 'red' });
    expect(await client.next()).toMatchObject({ type: 'drop', colour: 'red' });
  });

  test.each([
    ['no JSON', 'hello'],
    ['no object', '7'],
    ['an unknown action', '{"action":"dance"}'],
    ['a field of the wrong type', '{"action":"subscribe","filters":{"colours":7}}'],
    ['a forbidden key', '{"action":"subscribe","__proto__":{}}'],
    ['deep nesting', `${'['.repeat(100)}${']'.repeat(100)}`],
  ])('closes with 1007 at the third time: %s', async (_what, text) => {
    const { open } = await start();
    const client = await open('/asked');
    for (let count = 0; count < 4; count += 1) client.socket.send(text);
    const errors = await client.take(3);
    expect(errors).toEqual(errors.map(() => expect.objectContaining({ type: 'error' })));
    expect(await client.closed()).toMatchObject({ code: 1007 });
  });
});

test('a bus that is away closes with 1013 after saying so', async () => {
  const { open } = await start({}, (topic) => ({
    publish: (drop) => topic.publish(drop),
    subscribe: (...call) => topic.subscribe(...call),
    lastSeq: () => Promise.reject(new Fault('unavailable', 'the bus is away')),
  }));
  const client = await open('/asked');
  client.send({ action: 'subscribe' });
  expect(await client.next()).toMatchObject({ type: 'error', error: { code: 'UNAVAILABLE' } });
  expect(await client.closed()).toMatchObject({ code: 1013 });
});

describe('a subscription', () => {
  test('sends nothing before it, and no acknowledgement that was not asked for', async () => {
    const { topic, open } = await start();
    const client = await open('/asked');
    const early = await topic.publish({ colour: 'red' });
    client.send({ action: 'subscribe', after: early });
    client.send({ action: 'subscribe', after: early, filters: { colours: ['blue'] }, ack: true });
    expect(await client.next()).toEqual({ type: 'subscribed', seq: early });
  });

  test('is acknowledged with the seq that it is behind', async () => {
    const { topic, open } = await start();
    const client = await open('/asked');
    expect(await subscribeNow(client)).toBe(await topic.lastSeq());
    const seq = await topic.publish({ colour: 'red' });
    expect(await client.next()).toMatchObject({ seq });
    expect(await subscribeNow(client, { after: seq })).toBe(seq);
  });

  test('brings what its filter wants and the stream shows', async () => {
    const { topic, open } = await start();
    const client = await open('/asked');
    await subscribeNow(client, { filters: { colours: ['blue', 'hidden'] } });
    await topic.publish({ colour: 'red' });
    await topic.publish({ colour: 'hidden' });
    const seq = await topic.publish({ colour: 'blue' });
    expect(await client.next()).toEqual({ type: 'drop', colour: 'blue', seq });
  });

  test('replaces the one before', async () => {
    const { topic, open } = await start();
    const client = await open('/asked');
    await subscribeNow(client, { filters: { colours: ['red'] } });
    await subscribeNow(client, { filters: { colours: ['blue'] } });
    await topic.publish({ colour: 'red' });
    const seq = await topic.publish({ colour: 'blue' });
    expect(await client.next()).toEqual({ type: 'drop', colour: 'blue', seq });
  });

  test('replays what is retained, then goes on with what is new, in order and once', async () => {
    const { topic, open } = await start();
    const first = await topic.publish({ colour: 'red' });
    await publish(topic, { colour: 'red' }, 99);
    const client = await open('/asked');
    await subscribeNow(client, { after: first - 1 });
    const last = await publish(topic, { colour: 'blue' }, 100);
    const messages = await readUntil(client, first, last);
    expect(messages.map(({ type }) => type)).not.toContain('gap');
  });

  test('replays more than may wait on a socket without losing any', async () => {
    const { topic, open } = await start();
    const first = (await topic.lastSeq()) + 1;
    const last = await publish(topic, heavy, 40);
    const client = await open('/asked');
    await subscribeNow(client, { after: first - 1 });
    const messages = await readUntil(client, first, last);
    expect(messages).toHaveLength(40);
  });

  test('tells a reader that waited too long in a replay what is no longer retained', async () => {
    const { topic, open } = await start({ retainCount: 40 });
    const first = (await topic.lastSeq()) + 1;
    await publish(topic, heavy, 40);
    const client = await open('/asked');
    await subscribeNow(client, { after: first - 1 });
    client.socket.pause();
    const last = await publish(topic, { colour: 'blue' }, 100);
    client.socket.resume();
    const messages = await readUntil(client, first, last);
    expect(messages).toContainEqual({ type: 'gap', from: expect.any(Number), to: last - 40 });
  });

  test('gives a reader that is too slow for new events a gap once it reads again', async () => {
    const { topic, open } = await start();
    const client = await open('/asked');
    const first = (await subscribeNow(client)) + 1;
    client.socket.pause();
    const last = await publish(topic, heavy, 60);
    client.socket.resume();
    const messages = await readUntil(client, first, last);
    expect(messages.at(-1)).toEqual({ type: 'gap', from: expect.any(Number), to: last });
    await topic.publish({ colour: 'blue' });
    expect(await client.next()).toEqual({ type: 'drop', colour: 'blue', seq: last + 1 });
  });

  test('gives all who share frames every event, however long it is', async () => {
    const { topic, open } = await start();
    const clients = [await open('/shared'), await open('/shared')];
    for (const client of clients) await subscribeNow(client);
    for (const length of [0, 80, 120, 65_400, 65_700, 400_000]) {
      const drop = { colour: 'blau — 蓝', weight: 'x'.repeat(length) };
      const seq = await topic.publish(drop);
      for (const client of clients) expect(await client.next()).toEqual({ ...drop, seq });
    }
  });

  test('tells only the slow of those who share frames of a gap', async () => {
    const { topic, open } = await start();
    const [slow, quick] = [await open('/shared'), await open('/shared')];
    const first = (await subscribeNow(slow)) + 1;
    await subscribeNow(quick);
    slow.socket.pause();
    let last = first;
    for (let count = 0; count < 60; count += 1) {
      last = await topic.publish(heavy);
      expect(await quick.next()).toEqual({ ...heavy, seq: last });
    }
    slow.socket.resume();
    const messages = await readUntil(slow, first, last);
    expect(messages.at(-1)).toEqual({ type: 'gap', from: expect.any(Number), to: last });
    const seq = await topic.publish({ colour: 'blue' });
    for (const client of [slow, quick]) {
      expect(await client.next()).toEqual({ colour: 'blue', seq });
    }
  });

  test('behind a place that this topic never had says so and brings all that is retained', async () => {
    const { topic, open } = await start();
    const seq = await topic.publish({ colour: 'red' });
    const client = await open('/asked');
    expect(await subscribeNow(client, { after: Number.MAX_SAFE_INTEGER })).toBe(seq);
    expect(await client.take(2)).toEqual([
      { type: 'gap', from: 0, to: seq - 1 },
      { type: 'drop', colour: 'red', seq },
    ]);
  });

  test('ends with its connection', async () => {
    let openCount = 0;
    let ended: (() => void) | undefined;
    const hasEnded = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const { open } = await start({}, (topic) => ({
      publish: (drop) => topic.publish(drop),
      lastSeq: () => topic.lastSeq(),
      subscribe: async (...call) => {
        const subscription = await topic.subscribe(...call);
        openCount += 1;
        return {
          close: async () => {
            await subscription.close();
            openCount -= 1;
            ended?.();
          },
        };
      },
    }));
    const client = await open('/asked');
    await subscribeNow(client);
    client.socket.terminate();
    await hasEnded;
    expect(openCount).toBe(0);
  });
});

describe('a stream that needs no message', () => {
  test('begins at once, behind the place that it is given', async () => {
    const { topic, open } = await start();
    const first = await topic.publish({ colour: 'red' });
    const second = await topic.publish({ colour: 'blue' });
    const client = await open(`/immediate?after=${first}`);
    expect(await client.next()).toEqual({ type: 'drop', colour: 'blue', seq: second });
  });

  test('still takes a message that asks for a replay', async () => {
    const { topic, open } = await start();
    const seq = await topic.publish({ colour: 'red' });
    const client = await open('/immediate');
    client.send({ action: 'subscribe', after: seq - 1 });
    expect(await client.next()).toEqual({ type: 'drop', colour: 'red', seq });
  });
});

import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Frame } from './clients-testing.ts';
import { startChannel } from './testing.ts';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** What both protocols have in common, spoken by hand. */
interface Reader {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  send(event: string, data: unknown): void;
}

type Connect = (url: string, token: string) => Promise<Reader>;

const connectPlain: Connect = async (url, token) => {
  const socket = new WebSocket(url.replace('http', 'ws'), {
    headers: { authorization: `Bearer ${token}` },
  });
  const frames: Frame[] = [];
  socket.on('message', (text: Buffer) => frames.push(JSON.parse(text.toString()) as Frame));
  await once(socket, 'open');
  return {
    socket,
    frames,
    send: (event, data) => socket.send(JSON.stringify({ event, data })),
  };
};

const connectSocketIo: Connect = async (url, token) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
  const frames: Frame[] = [];
  socket.on('message', (message: Buffer) => {
    const text = message.toString();
    if (!text.startsWith('42')) return;
    const [event, data] = JSON.parse(text.slice(2)) as [string, Frame['data']];
    frames.push({ event, data });
  });
  await once(socket, 'message');
  socket.send(`40${JSON.stringify({ token })}`);
  await once(socket, 'message');
  return {
    socket,
    frames,
    send: (event, data) => socket.send(`42${JSON.stringify([event, data])}`),
  };
};

test.each([
  ['a plain WebSocket', connectPlain],
  ['Socket.IO', connectSocketIo],
])(
  'over %s a reader that stops reading costs little memory, and knows what it missed',
  async (_, connect) => {
    const channel = await startChannel();
    closers.push(() => channel[Symbol.asyncDispose]());
    const { chat, issuer, url } = channel;
    const reader = await connect(url, await issuer.sign({ sub: 'usr_slow' }));
    closers.push(() => reader.socket.terminate());
    reader.socket.pause();
    const turn = chat.addTurn('usr_slow');
    const piece = 'x'.repeat(50_000);
    const count = 400;
    for (let at = 0; at < count; at += 1) {
      chat.tell(turn, { type: 'delta', content: `${piece}${at}` });
      await new Promise((resolve) => setImmediate(resolve));
    }
    reader.socket.resume();
    await expect.poll(() => reader.frames.at(-1)?.event).toBe('gap');
    const gap = reader.frames.at(-1)?.data;
    // What the system's own buffers hold is beside what waits in ours.
    expect(reader.frames.length).toBeLessThan(250);
    expect(gap).toEqual({ id: turn.id, from: reader.frames.length, to: count });
    chat.tell(turn, { type: 'delta', content: 'new' });
    await expect.poll(() => reader.frames.at(-1)?.data.token).toBe('new');
    const isResumed = ({ event }: Frame) => event === 'resumed';
    reader.send('resume', { turn_id: turn.id, after: gap.from - 1 });
    await expect.poll(() => reader.frames.some(isResumed)).toBe(true);
    chat.tell(turn, { type: 'failed', code: 'upstream', message: 'gone' });
    await expect.poll(() => reader.frames.at(-1)?.data.finished).toBe(true);
    const [resumed, ...replayed] = reader.frames.slice(reader.frames.findIndex(isResumed));
    expect(resumed?.data).toEqual({ id: turn.id, after: gap.from - 1 });
    expect(replayed.map(({ data }) => data.seq)).toEqual(
      Array.from({ length: count + 2 - (gap.from - 1) }, (_item, at) => gap.from + at),
    );
  },
);

import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ScriptedChat, startChannel } from './testing.ts';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const atOnce = 100;

/** What a socket was told of its user's only turn. */
interface Heard {
  lastSeq: number;
  /** Each event came once, behind the one before. */
  isWhole: boolean;
}

/** Every second one speaks Socket.IO, the others show their token in a first frame. */
async function listen(url: string, { token, place }: { token: string; place: number }) {
  const isSocketIo = place % 2 === 1;
  const path = isSocketIo ? '/socket.io/?EIO=4&transport=websocket' : '/ws';
  const socket = new WebSocket(url.replace('http', 'ws') + path, { perMessageDeflate: false });
  closers.push(() => socket.terminate());
  const heard: Heard = { lastSeq: 0, isWhole: true };
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    if (!isSocketIo) socket.once('open', resolve);
    socket.on('message', (message: Buffer) => {
      const text = message.toString();
      if (text.startsWith('0')) socket.send(`40${JSON.stringify({ token })}`);
      else if (text.startsWith('40')) resolve();
      else if (text === '2') socket.send('3');
      else hear(heard, Number(/"seq":(\d+)/.exec(text)?.[1]));
    });
  });
  if (!isSocketIo) socket.send(JSON.stringify({ auth: { token } }));
  return heard;
}

function hear(heard: Heard, seq: number): void {
  heard.isWhole &&= heard.lastSeq === 0 || seq === heard.lastSeq + 1;
  heard.lastSeq = seq;
}

test('five thousand sockets of a hundred users are told every piece of their own turns', async () => {
  const chat = new ScriptedChat();
  const { url, issuer, ...channel } = await startChannel({ chat });
  closers.push(() => channel[Symbol.asyncDispose]());
  const subjects = Array.from({ length: 100 }, (_, at) => `usr_${at}`);
  const tokens = await Promise.all(subjects.map((sub) => issuer.sign({ sub })));
  const all: Heard[] = [];
  while (all.length < 5_000) {
    const opening = Array.from({ length: atOnce }, (_, at) => {
      const place = all.length + at;
      return listen(url, { token: tokens[place % subjects.length] ?? '', place });
    });
    all.push(...(await Promise.all(opening)));
  }
  const turns = subjects.map((sub, at) => chat.addTurn(sub, `cnv_${at}`));
  let told = 0;
  const tell = () => {
    told += 1;
    for (const turn of turns) chat.tell(turn, { type: 'delta', content: ' token' });
  };
  // Who came last may still have to be let in.
  await expect.poll(() => (tell(), all.every(({ lastSeq }) => lastSeq > 0))).toBe(true);
  for (let count = 0; count < 20; count += 1) {
    tell();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect
    .poll(() => all.every(({ lastSeq }) => lastSeq === told), { timeout: 30_000 })
    .toBe(true);
  expect(all.every(({ isWhole }) => isWhole)).toBe(true);
}, 120_000);

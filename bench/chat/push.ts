import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Depth } from '../harness/depth.ts';
import { ratioAtMost, type Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

/** What the parent learns of a server that pushes tokens. */
export interface PushHello {
  readonly url: string;
  /** One for each user; a bare server asks for none. */
  readonly tokens: readonly string[];
}

export type PushKind = 'plain' | 'socket.io' | 'bare-ws' | 'bare-socket.io';

const users = 100;
const tokens = 400;
const idleSockets = 5_000;
const connectAtOnce = 50;

/** Tokens pushed to users, and sockets that are silent, beside bare `ws` and bare Socket.IO. */
export async function measurePush(depth: Depth): Promise<Figure[]> {
  return [
    ...(await measureTokens('plain', 'bare-ws', depth)),
    ...(await measureTokens('socket.io', 'bare-socket.io', depth)),
    ...(await measureMemory('plain', 'bare-ws', depth)),
    ...(await measureMemory('socket.io', 'bare-socket.io', depth)),
  ];
}

const names: Readonly<Record<PushKind, string>> = {
  plain: 'ours: turns, tabs, sequence, back-pressure',
  'socket.io': 'ours: turns, tabs, sequence, back-pressure',
  'bare-ws': 'ws, send',
  'bare-socket.io': 'Socket.IO, emit',
};

async function measureTokens(ours: PushKind, bare: PushKind, depth: Depth): Promise<Figure[]> {
  await using audience = await Audience.open(ours, users);
  await using control = await Audience.open(bare, users);
  const count = Math.ceil(tokens / depth.shortening);
  const pushes = new Map<string, Push[]>([
    [ours, []],
    [bare, []],
  ]);
  await runRounds(
    [audience, control].map((each) => ({
      name: each.kind,
      measure: async () => {
        const push = await each.push(count);
        pushes.get(each.kind)?.push(push);
        return push.cpuMicros;
      },
    })),
    depth,
  );
  const samplesOf = (kind: PushKind, of: keyof Push) =>
    (pushes.get(kind) ?? []).slice(depth.warmUps).map((push) => push[of]);
  const title = ours === 'plain' ? 'a plain WebSocket' : 'Socket.IO';
  return [
    {
      title: `Tokens over ${title}, CPU time of one`,
      rows: [
        {
          name: names[ours],
          role: 'ours',
          unit: 'us',
          samples: samplesOf(ours, 'cpuMicros'),
          goal: ratioAtMost(1 / 0.7),
        },
        { name: names[bare], role: 'limit', unit: 'us', samples: samplesOf(bare, 'cpuMicros') },
      ],
      note: `${count} tokens to each of ${users} users, all users a turn of the loop; ${audience.messageBytes} bytes each`,
    },
    {
      title: `Tokens over ${title}, pushed and read`,
      rows: [
        {
          name: names[ours],
          role: 'ours',
          unit: '/s',
          samples: samplesOf(ours, 'perSecond'),
          goal: { text: '>= 0.7x limit', isMet: ({ ratio }) => ratio >= 0.7 },
        },
        { name: names[bare], role: 'limit', unit: '/s', samples: samplesOf(bare, 'perSecond') },
      ],
      note: 'the reader, a process of its own, is the slower one where both have a core',
    },
  ];
}

async function measureMemory(ours: PushKind, bare: PushKind, depth: Depth): Promise<Figure[]> {
  const count = Math.ceil(idleSockets / depth.shortening);
  const own = await bytesPerSocket(ours, count);
  const limit = await bytesPerSocket(bare, count);
  const title = ours === 'plain' ? 'plain WebSocket' : 'socket of Socket.IO';
  const figure = (what: string, of: keyof typeof own): Figure => ({
    title: `Memory of a silent ${title}, ${what}`,
    rows: [
      {
        name: 'ours',
        role: 'ours',
        unit: 'kB',
        samples: [own[of] / 1_000],
        goal: { text: '<= 15 kB over bare', isMet: () => own[of] - limit[of] <= 15_000 },
      },
      { name: 'bare', role: 'limit', unit: 'kB', samples: [limit[of] / 1_000] },
    ],
    note: `${count.toLocaleString('en-US')} sockets of ${users} users, after collecting garbage`,
  });
  return [figure('resident', 'residentBytes'), figure('heap', 'heapBytes')];
}

async function bytesPerSocket(kind: PushKind, count: number) {
  await using audience = await Audience.open(kind, 0);
  // The first ones pay for code and caches.
  await audience.add(200);
  const before = await audience.memory();
  await audience.add(count);
  const after = await audience.memory();
  return {
    residentBytes: (after.residentBytes - before.residentBytes) / count,
    heapBytes: (after.heapBytes - before.heapBytes) / count,
  };
}

interface Push {
  /** Of the server, for one token. */
  readonly cpuMicros: number;
  readonly perSecond: number;
}

/** A server that pushes in a process of its own, and those who listen, in this one. */
class Audience implements AsyncDisposable {
  readonly kind: PushKind;
  messageBytes = 0;
  readonly #child: MeasuredChild<PushHello>;
  readonly #sockets: WebSocket[] = [];
  #missing = 0;
  #onDone = () => {};

  private constructor(kind: PushKind, child: MeasuredChild<PushHello>) {
    this.kind = kind;
    this.#child = child;
  }

  static async open(kind: PushKind, socketCount: number): Promise<Audience> {
    const module = new URL('push-child.js', import.meta.url);
    const child = await MeasuredChild.start<PushHello>(module, [kind, String(users)]);
    const audience = new Audience(kind, child);
    await audience.add(socketCount);
    return audience;
  }

  async add(count: number): Promise<void> {
    for (let left = count; left > 0; left -= connectAtOnce) {
      const opening = Array.from({ length: Math.min(left, connectAtOnce) }, (_, at) =>
        this.#connect(this.#sockets.length + at),
      );
      this.#sockets.push(...(await Promise.all(opening)));
    }
  }

  memory() {
    return this.#child.memory();
  }

  async push(count: number): Promise<Push> {
    const all = count * this.#sockets.length;
    this.#missing = all;
    const done = new Promise<void>((resolve) => {
      this.#onDone = resolve;
    });
    const before = await this.#child.cpuMicros();
    const startedAt = performance.now();
    await this.#child.cpuMicros(count);
    await done;
    const seconds = (performance.now() - startedAt) / 1_000;
    const micros = (await this.#child.cpuMicros()) - before;
    return { cpuMicros: micros / all, perSecond: all / seconds };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await this.#child[Symbol.asyncDispose]();
  }

  /** Speaks Socket.IO by hand, so that both kinds of client cost the same. */
  async #connect(place: number): Promise<WebSocket> {
    const { url, tokens: known } = this.#child.hello;
    const token = known[place % known.length];
    const isSocketIo = this.kind.endsWith('socket.io');
    const socket = new WebSocket(isSocketIo ? `${url}/socket.io/?EIO=4&transport=websocket` : url, {
      perMessageDeflate: false,
      ...(token ? { headers: { authorization: `Bearer ${token}` } } : {}),
    });
    if (isSocketIo) {
      await once(socket, 'message');
      socket.send('40');
      await once(socket, 'message');
    } else await once(socket, 'open');
    socket.on('message', (message: Buffer) => this.#take(socket, message));
    return socket;
  }

  #take(socket: WebSocket, message: Buffer): void {
    // A ping of Engine.IO.
    if (message.length === 1) {
      socket.send('3');
      return;
    }
    this.messageBytes = message.length;
    this.#missing -= 1;
    if (this.#missing === 0) this.#onDone();
  }
}

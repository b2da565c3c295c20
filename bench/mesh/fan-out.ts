import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Depth } from '../harness/depth.ts';
import { ratioAtLeast, type Figure } from '../harness/figure.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { runRounds } from '../harness/rounds.ts';

/** What the parent learns of a server of events. */
export interface FanOutHello {
  /** With whatever a client has to show. */
  readonly url: string;
}

const events = 200;

/** Events that one core sends, beside `ws` with each frame encoded once for all. */
export async function measureFanOut(depth: Depth): Promise<Figure[]> {
  return [await measureSockets(100, depth), await measureSockets(1_000, depth)];
}

async function measureSockets(socketCount: number, depth: Depth): Promise<Figure> {
  await using ours = await Audience.open('ours', socketCount);
  await using framed = await Audience.open('once', socketCount);
  await using plain = await Audience.open('plain', socketCount);
  const count = Math.ceil(events / depth.shortening);
  const contestants = { ours, once: framed, plain };
  const names = ['ours', 'once', 'plain'] as const;
  const samplesOf = await runRounds(
    names.map((name) => ({ name, measure: () => contestants[name].perSecondOfCpu(count) })),
    depth,
  );
  const unit = '/s';
  return {
    title: `Activity to ${socketCount.toLocaleString('en-US')} sockets, messages of one core`,
    rows: [
      {
        name: 'ours: bus, filter, sequence, back-pressure',
        role: 'ours',
        unit,
        samples: samplesOf('ours'),
        goal: ratioAtLeast(0.8),
      },
      {
        name: 'ws, one frame encoded for all',
        role: 'limit',
        unit,
        samples: samplesOf('once'),
      },
      { name: 'ws, send to each', role: 'peer', unit, samples: samplesOf('plain') },
    ],
    note: `${count} events of ${ours.messageBytes} bytes one after the other`,
  };
}

/** A server of events in a process of its own, and those who listen, in this one. */
class Audience implements AsyncDisposable {
  messageBytes = 0;
  readonly #child: MeasuredChild<FanOutHello>;
  readonly #sockets: readonly WebSocket[];
  #missing = 0;
  #onDone = () => {};

  private constructor(child: MeasuredChild<FanOutHello>, sockets: readonly WebSocket[]) {
    this.#child = child;
    this.#sockets = sockets;
    for (const socket of sockets) {
      socket.on('message', (message: Buffer) => this.#take(message));
    }
  }

  static async open(kind: 'ours' | 'once' | 'plain', socketCount: number): Promise<Audience> {
    const module = new URL('fan-out-child.js', import.meta.url);
    const child = await MeasuredChild.start<FanOutHello>(module, [kind]);
    const sockets: WebSocket[] = [];
    while (sockets.length < socketCount) sockets.push(await subscribe(child.hello.url));
    return new Audience(child, sockets);
  }

  /** Messages that were sent in a second of the process's CPU time; each reader had all of them. */
  async perSecondOfCpu(count: number): Promise<number> {
    this.#missing = count * this.#sockets.length;
    const done = new Promise<void>((resolve) => {
      this.#onDone = resolve;
    });
    const before = await this.#child.cpuMicros();
    await this.#child.cpuMicros(count);
    await done;
    const micros = (await this.#child.cpuMicros()) - before;
    return (count * this.#sockets.length * 1e6) / micros;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.terminate();
    await this.#child[Symbol.asyncDispose]();
  }

  #take(message: Buffer): void {
    this.messageBytes = message.length;
    this.#missing -= 1;
    if (this.#missing === 0) this.#onDone();
  }
}

async function subscribe(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  socket.send(JSON.stringify({ action: 'subscribe', ack: true }));
  await once(socket, 'message');
  return socket;
}

import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Depth } from '../harness/depth.ts';
import { atMost, type Figure } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import { makeWorkspace, startStudioChild, type StudioHello } from './studio.ts';

const writes = 200;
const content = 'x'.repeat(1_000);

/** From the write of a file on one device to its event, with its content, on another. */
export async function measureLatency(depth: Depth): Promise<Figure[]> {
  await using studio = await startStudioChild();
  const { hello } = studio;
  const workspaceId = await makeWorkspace(hello);
  await using reader = await Device.open(hello, workspaceId, 'reader');
  await using writer = await Device.open(hello, workspaceId, 'writer');
  const count = Math.ceil(writes / depth.shortening);
  let written = 0;
  const measure = (write: (path: string) => Promise<unknown>) => async () => {
    const times: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const path = `folder-${written % 20}/file-${written}`;
      written += 1;
      const told = reader.told(path);
      const startedAt = performance.now();
      await Promise.all([write(path), told]);
      times.push((await told) - startedAt);
    }
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  };
  const overStream = 'a change over the stream';
  const overHttp = 'PUT of a file';
  const samples = await runRounds(
    [
      {
        name: overStream,
        measure: measure((path) =>
          writer.say({ action: 'change', path, operation: 'create', baseHash: null, content }),
        ),
      },
      { name: overHttp, measure: measure((path) => put(hello, workspaceId, path)) },
    ],
    depth,
  );
  return [
    {
      title: 'From a write on one device to the event on another, p95',
      rows: [overStream, overHttp].map((name) => ({
        name,
        role: 'ours' as const,
        unit: 'ms',
        samples: samples(name),
        goal: atMost(100, 'ms'),
      })),
      note: `${count} new files of ${content.length} bytes a round, one after the other; on the disk and in the log before they are told`,
    },
  ];
}

async function put({ url, token }: StudioHello, workspaceId: string, path: string): Promise<void> {
  const address = `${url}/api/v1/workspaces/${workspaceId}/files/${path}?device=http`;
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(address, { method: 'PUT', headers, body: content });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

/** A device that follows a workspace. */
class Device implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (atMs: number) => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open({ url, token }: StudioHello, workspaceId: string, deviceId: string) {
    const address = `${url.replace('http', 'ws')}/api/v1/sync/stream`;
    const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
    const device = new Device(socket);
    await once(socket, 'open');
    const subscribed = once(socket, 'message');
    socket.send(JSON.stringify({ action: 'subscribe', workspaceId, deviceId, ack: true }));
    await subscribed;
    socket.on('message', (bytes: Buffer) => device.#hear(bytes.toString()));
    return device;
  }

  /** When the content of a path was heard of. */
  told(path: string): Promise<number> {
    return new Promise((resolve) => this.#waiting.set(path, resolve));
  }

  async say(message: object): Promise<void> {
    this.#socket.send(JSON.stringify(message));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.terminate();
  }

  #hear(text: string): void {
    const atMs = performance.now();
    const { type, data } = JSON.parse(text) as { type: string; data?: { path?: string } };
    const path = data?.path ?? '';
    if (type !== 'file_change') return;
    this.#waiting.get(path)?.(atMs);
    this.#waiting.delete(path);
  }
}

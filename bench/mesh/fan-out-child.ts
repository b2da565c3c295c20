// Sends events to all who listen: `ours`, the mesh's stream behind the suite's edge; `once`, `ws` with
// one frame written to every socket; `plain`, `ws` by its own `send`.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { LocalBus } from '../../src/kit/bus/local-bus.ts';
import type { Contract } from '../../src/kit/contract.ts';
import { plainEnvelope } from '../../src/kit/envelope.ts';
import { newId } from '../../src/kit/ids.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../src/kit/testing.ts';
import { ActivityFeed } from '../../src/mesh/activity/activity-feed.ts';
import { activitySocketHandlers } from '../../src/mesh/routes/activity.ts';
import { activitySockets } from '../../src/mesh/schemas/activity.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { FanOutHello } from './fan-out.ts';

const contract = {
  name: 'mesh',
  title: 'Activity',
  version: '1.0.0',
  description: 'What happens on the mesh.',
  error: plainEnvelope.schema,
  routes: {},
  sockets: activitySockets,
} as const satisfies Contract;

const facts = {
  type: 'task-executed',
  agentId: 'agent-17',
  data: { taskId: 'tsk_0123456789abcdef', duration: 12, status: 'completed', type: 'summarise' },
};

interface Source extends FanOutHello {
  readonly tell: (seq: number) => void;
}

async function startOurs(): Promise<Source> {
  const bus = new LocalBus({ log: silentLog });
  const feed = new ActivityFeed({ bus, log: silentLog });
  const { http, issuer } = await createTestServer(contract, {
    socketLimits: { perIdentityMax: 100_000 },
  });
  http.serve(contract, {});
  http.serveSockets(contract, activitySocketHandlers(feed));
  const url = (await listenAnywhere(http)).replace('http', 'ws');
  const token = await issuer.sign();
  return {
    url: `${url}${activitySockets.activity.url}?access_token=${token}`,
    tell: () => feed.tell(facts.type, facts.agentId, facts.data),
  };
}

async function startWs(send: (all: ReadonlyMap<WebSocket, Duplex>, text: string) => void) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, clientTracking: false });
  const all = new Map<WebSocket, Duplex>();
  server.on('connection', (socket, request) => {
    socket.once('message', () => {
      all.set(socket, request.socket);
      socket.send('{}');
    });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const tell = (seq: number) => {
    const timestamp = new Date().toISOString();
    const event = { eventId: newId('evt'), ...facts, timestamp, seq };
    send(all, JSON.stringify(event));
  };
  return { url: `ws://127.0.0.1:${port}`, tell };
}

/** An event is longer than 125 bytes and shorter than 65,536 (RFC 6455, section 5.2). */
function sendOnce(all: ReadonlyMap<WebSocket, Duplex>, text: string): void {
  const head = Buffer.from([0x81, 126, 0, 0]);
  head.writeUInt16BE(Buffer.byteLength(text), 2);
  const frame = Buffer.concat([head, Buffer.from(text)]);
  for (const [socket, stream] of all) {
    if (socket.readyState === WebSocket.OPEN) stream.write(frame);
  }
}

function sendEach(all: ReadonlyMap<WebSocket, Duplex>, text: string): void {
  for (const socket of all.keys()) socket.send(text);
}

const starters: Readonly<Record<string, () => Promise<Source>>> = {
  ours: startOurs,
  once: () => startWs(sendOnce),
  plain: () => startWs(sendEach),
};

const source = await starters[process.argv[2] ?? '']?.();
if (!source) throw new Error('say which: ours, once or plain');
const { url, tell } = source;
let seq = Date.now() * 1_000;
serveOrders({ url }, async (count) => {
  for (let at = 0; at < count; at += 1) {
    seq += 1;
    tell(seq);
    await turn();
  }
});

// Pushes tokens to all who listen: `plain` and `socket.io`, the channel behind the suite's edge; `bare-ws`
// and `bare-socket.io`, the libraries with the same JSON and nothing else.
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { Server, type Socket } from 'socket.io';
import { WebSocketServer, type WebSocket } from 'ws';
import { ScriptedChat, startChannel } from '../../src/chat/channel/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { PushHello } from './push.ts';

interface Source extends PushHello {
  /** The next token of every user's turn. */
  readonly tell: (token: string) => void;
}

const users = Number(process.argv[3]);

/** As the channel words a token, with ids of the same lengths. */
function tokenOf(user: number, token: string, seq: number) {
  const id = String(user).padStart(32, '0');
  return {
    conversation_id: `cnv_${id}`,
    message_id: `msg_${id}`,
    model: 'scripted',
    id: `trn_${id}`,
    finished: false,
    token,
    seq,
  };
}

async function startOurs(): Promise<Source> {
  const chat = new ScriptedChat();
  const { url, issuer } = await startChannel({ chat, socketLimits: { perIdentityMax: 100_000 } });
  const turns = Array.from({ length: users }, (_, user) => {
    const { conversation_id, message_id, id } = tokenOf(user, '', 0);
    const turn = chat.addTurn(`usr_${user}`, conversation_id);
    return { ...turn, id, messageId: message_id };
  });
  const tokens = await Promise.all(turns.map(({ ownerId }) => issuer.sign({ sub: ownerId })));
  let seq = 0;
  return {
    url: url.replace('http', 'ws'),
    tokens,
    tell: (content) => {
      seq += 1;
      for (const turn of turns) chat.hear(turn, { type: 'delta', seq, content });
    },
  };
}

async function listen(server: HttpServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `ws://127.0.0.1:${port}`;
}

/** A library that is attached to a server: who listens, and how one of them is told something. */
interface Attached<Client> {
  readonly sockets: () => Iterable<Client>;
  readonly send: (socket: Client, data: ReturnType<typeof tokenOf>) => void;
}

async function startBare<Client>(attach: (http: HttpServer) => Attached<Client>): Promise<Source> {
  const http = createServer();
  const { sockets, send } = attach(http);
  let seq = 0;
  return {
    url: await listen(http),
    tokens: [],
    tell: (token) => {
      seq += 1;
      let user = 0;
      for (const socket of sockets()) {
        user += 1;
        send(socket, tokenOf(user, token, seq));
      }
    },
  };
}

function startWs(): Promise<Source> {
  return startBare((server) => {
    const { clients } = new WebSocketServer({ server, perMessageDeflate: false });
    const send = (socket: WebSocket, data: object) =>
      socket.send(JSON.stringify({ event: 'chat_response', data }));
    return { sockets: () => clients, send };
  });
}

function startSocketIo(): Promise<Source> {
  return startBare((server) => {
    const io = new Server(server, { perMessageDeflate: false, serveClient: false });
    const send = (socket: Socket, data: object) => socket.emit('chat_response', data);
    return { sockets: () => io.sockets.sockets.values(), send };
  });
}

const starters: Readonly<Record<string, () => Promise<Source>>> = {
  plain: startOurs,
  'socket.io': startOurs,
  'bare-ws': startWs,
  'bare-socket.io': startSocketIo,
};

const source = await starters[process.argv[2] ?? '']?.();
if (!source) throw new Error('say which: plain, socket.io, bare-ws or bare-socket.io');
const { url, tokens, tell } = source;
serveOrders({ url, tokens }, async (count) => {
  for (let at = 0; at < count; at += 1) {
    tell(' token');
    await turnOfLoop();
  }
});

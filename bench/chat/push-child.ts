// Pushes tokens to all who listen: `plain` and `socket.io`, the channel behind the suite's edge; `bare-ws`
// and `bare-socket.io`, the libraries with the same JSON and nothing else.
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { Server } from 'socket.io';
import { WebSocketServer } from 'ws';
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

async function startWs(): Promise<Source> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  let seq = 0;
  return {
    url: await listen(http),
    tokens: [],
    tell: (token) => {
      seq += 1;
      let user = 0;
      for (const socket of server.clients) {
        user += 1;
        socket.send(JSON.stringify({ event: 'chat_response', data: tokenOf(user, token, seq) }));
      }
    },
  };
}

async function startSocketIo(): Promise<Source> {
  const http = createServer();
  const io = new Server(http, { perMessageDeflate: false, serveClient: false });
  let seq = 0;
  return {
    url: await listen(http),
    tokens: [],
    tell: (token) => {
      seq += 1;
      let user = 0;
      for (const socket of io.sockets.sockets.values()) {
        user += 1;
        socket.emit('chat_response', tokenOf(user, token, seq));
      }
    },
  };
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

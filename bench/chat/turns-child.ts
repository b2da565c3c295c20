// Answers chats: `gateway` writes tokens one by one, `ours` are chat's turns on it behind the suite's edge,
// in a conversation each, and `bare` hands its bytes on and knows nothing of them.
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestServer, listenAnywhere } from '../../src/kit/testing.ts';
import { chatEnvelope } from '../../src/chat/envelope.ts';
import { turnHandlers } from '../../src/chat/routes/turns.ts';
import { turnRoutes } from '../../src/chat/schemas/turns.ts';
import { openReplica, openTurnsGround } from '../../src/chat/turns/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { TurnsHello } from './turns.ts';

const [, , way = '', tokenText = '50', gatewayUrl = ''] = process.argv;
const tokenCount = Number(tokenText);
/** A whole run asks nine times in each, so that it ends with 18 messages. */
const conversationCount = 200;
/** Until the second token: without it the first one waits for the processors that the others keep busy. */
const secondTokenMs = 10;

function chunkOf(delta: object, rest: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null, ...rest }];
  const head = {
    id: 'chatcmpl-0123456789',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
  };
  return `data: ${JSON.stringify({ ...head, choices, usage: null })}\n\n`;
}

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let next = 0;
  const send = () => {
    if (next < tokenCount) response.write(chunkOf({ content: ` token${next}` }));
    else return response.end(`${chunkOf({}, { finish_reason: 'stop' })}data: [DONE]\n\n`);
    next += 1;
    return next === 1 ? setTimeout(send, secondTokenMs) : setImmediate(send);
  };
  send();
}

async function listen(server: ReturnType<typeof createServer>): Promise<TurnsHello> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token: '', conversations: [] };
}

function startGateway(): Promise<TurnsHello> {
  return listen(
    createServer((incoming, response) => {
      incoming.resume().on('end', () => answer(response));
    }),
  );
}

function startBare(): Promise<TurnsHello> {
  return listen(
    createServer((incoming, response) => {
      const { method, headers } = incoming;
      const upstream = request(gatewayUrl, { method, headers }, (given) => {
        response.writeHead(given.statusCode ?? 502, given.headers);
        given.pipe(response);
      });
      incoming.pipe(upstream);
    }),
  );
}

async function startOurs(): Promise<TurnsHello> {
  const ground = await openTurnsGround();
  const { turns, conversations } = await openReplica({ ...ground, gateway: { url: gatewayUrl } });
  const contract = {
    name: 'chat',
    title: 'Chat',
    version: '0.1.0',
    description: 'turns alone',
    error: chatEnvelope.schema,
    routes: turnRoutes,
  } as const;
  const { http, issuer } = await createTestServer(contract, { envelope: chatEnvelope });
  const completionLimit = { takeFor: () => {} };
  http.serve(contract, turnHandlers({ turns, feeds: turns, conversations, completionLimit }));
  const url = await listenAnywhere(http);
  const token = await issuer.sign({ sub: 'usr_bench' });
  const ids: string[] = [];
  for (let count = 0; count < conversationCount; count += 1)
    ids.push((await conversations.create('usr_bench')).id);
  return { url, token, conversations: ids };
}

const starts: Readonly<Record<string, () => Promise<TurnsHello>>> = {
  gateway: startGateway,
  bare: startBare,
  ours: startOurs,
};
const start = starts[way];
if (!start) throw new Error(`unknown way ${way}`);
serveOrders(await start(), () => {});

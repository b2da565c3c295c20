// Answers lists of conversations with their messages: `ours`, GraphQL behind the suite's edge; `yoga` and
// `mercurius` (`mercurius-jit`) alone; `bytes`, a Fastify that sends the same answer without any work. All
// have the same data in memory.
import Fastify from 'fastify';
import { createSchema, createYoga } from 'graphql-yoga';
import mercurius from 'mercurius';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  Conversation,
  Conversations,
  Message,
} from '../../src/chat/conversations/conversation.ts';
import type { MessageBatches } from '../../src/chat/conversations/message-batches-store.ts';
import type { GraphqlParts } from '../../src/chat/graphql/context.ts';
import { Graphql } from '../../src/chat/graphql/graphql.ts';
import { chatSchemaText } from '../../src/chat/graphql/schema-text.ts';
import { chatEnvelope } from '../../src/chat/envelope.ts';
import { graphqlHandlers } from '../../src/chat/routes/graphql.ts';
import { graphqlRoutes } from '../../src/chat/schemas/graphql.ts';
import type { Contract } from '../../src/kit/contract.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../src/kit/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { listAnswer, type ListsHello } from './lists.ts';

const count = 10;
const createdAtMs = Date.UTC(2026, 10, 21);

const messagesOf = new Map<string, readonly Message[]>();
const conversations: readonly Conversation[] = Array.from({ length: count }, (_, at) => {
  const id = `cnv_${at}`;
  const messages = Array.from({ length: count }, (_none, place) => ({
    id: `msg_${at}_${place}`,
    conversationId: id,
    place: place + 1,
    role: 'user' as const,
    content: `The text of message ${place} of conversation ${at}, as long as people write them.`,
    status: 'complete' as const,
    createdAtMs,
  }));
  messagesOf.set(id, messages);
  const counts = {
    messageCount: count,
    totalTokens: 0,
    cost: 0,
    createdAtMs,
    updatedAtMs: createdAtMs,
  };
  return { id, ownerId: 'usr_test', title: `Conversation ${at}`, ...counts };
});

const resolvers = {
  Query: { conversations: async () => conversations },
  Conversation: { messages: async ({ id }: Conversation) => messagesOf.get(id) ?? [] },
};

async function startOurs(): Promise<ListsHello> {
  const contract = {
    name: 'chat',
    title: 'Chat',
    version: '0.1.0',
    description: 'GraphQL alone.',
    error: chatEnvelope.schema,
    acceptsSessionCookie: true,
    routes: graphqlRoutes,
  } as const satisfies Contract;
  const { http, issuer } = await createTestServer(contract, { envelope: chatEnvelope });
  const held: Pick<Conversations, 'list'> = {
    list: async () => ({ conversations, total: count }),
  };
  const messages: Pick<MessageBatches, 'ofConversations'> = {
    ofConversations: async (_ownerId, { ids }) => ({
      value: ids.flatMap((id) => messagesOf.get(id) ?? []),
      bytes: 0,
    }),
  };
  // Nothing else is asked for.
  const parts = { conversations: held, messages } as unknown as GraphqlParts;
  const { guests } = http.sockets;
  const { server } = http.app;
  const graphql = new Graphql({ parts, introspection: 'open', guests, server, log: silentLog });
  http.serve(contract, graphqlHandlers({ graphql, guests }));
  return { url: await listenAnywhere(http), tokens: [await issuer.sign()] };
}

async function startYoga(): Promise<ListsHello> {
  const schema = createSchema({ typeDefs: chatSchemaText, resolvers });
  const server = createServer(createYoga({ schema, logging: false, graphiql: false }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, tokens: [''] };
}

async function startMercurius(jit: number): Promise<ListsHello> {
  const app = Fastify();
  await app.register(mercurius, { schema: chatSchemaText, resolvers, jit });
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), tokens: [''] };
}

async function startBytes(): Promise<ListsHello> {
  const app = Fastify();
  const answer = JSON.stringify(listAnswer(conversations, messagesOf));
  app.post('/graphql', (_request, reply) => reply.type('application/json').send(answer));
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), tokens: [''] };
}

const starts: Readonly<Record<string, () => Promise<ListsHello>>> = {
  ours: startOurs,
  yoga: startYoga,
  mercurius: () => startMercurius(0),
  'mercurius-jit': () => startMercurius(1),
  bytes: startBytes,
};

const start = starts[process.argv[2] ?? ''];
if (!start) throw new Error(`no server is called ${process.argv[2]}`);
serveOrders(await start(), () => {});

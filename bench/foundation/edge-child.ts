// A server to be measured: `bare`, a Fastify as its documentation makes it, or `kit`, the suite's edge.
import Fastify from 'fastify';
import type { AddressInfo } from 'node:net';
import type { RouteSchema } from '../../src/kit/contract.ts';
import type { Handlers } from '../../src/kit/http/call.ts';
import { createTestServer, listenAnywhere } from '../../src/kit/testing.ts';
import { Tracer, type SpanRecord } from '../../src/kit/trace/trace.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { busyMicros, completion, edgeContract, modelCard, postBusyChat } from './edge-contract.ts';

/** What the parent learns: where the server is and the tokens that it takes. */
export interface EdgeHello {
  readonly url: string;
  readonly tokens: readonly string[];
}

const callers = 500;
const spansKept = 512;

const handlers: Handlers<typeof edgeContract> = {
  chat: () => completion,
  model: ({ params }) => ({ ...modelCard, id: params.id }),
  openChat: () => completion,
  openModel: ({ params }) => ({ ...modelCard, id: params.id }),
};

async function startKit(): Promise<EdgeHello> {
  const { http, issuer } = await createTestServer(edgeContract, {
    tracer: new Tracer(collectToNobody()),
  });
  http.serve(edgeContract, handlers);
  const tokens = await Promise.all(
    Array.from({ length: callers }, (_, at) =>
      issuer.sign({
        sub: `usr_${at}`,
        user: { id: `usr_${at}`, email: `user${at}@example.com`, name: `User ${at}` },
        roles: ['developer'],
        permissions: ['bench:read', 'bench:write', 'chat:read', 'chat:write'],
      }),
    ),
  );
  return { url: await listenAnywhere(http), tokens };
}

/** A sink that keeps a batch as the exporter does, and then drops it instead of sending it. */
function collectToNobody() {
  let kept: SpanRecord[] = [];
  return (span: SpanRecord) => {
    kept.push(span);
    if (kept.length === spansKept) kept = [];
  };
}

/** Fastify's own parser, Ajv and serialiser; it gets the kit's schemas as plain JSON Schema. */
async function startBare(): Promise<EdgeHello> {
  const app = Fastify({ logger: false });
  const { chat, model } = edgeContract.routes;
  app.post(chat.url, { schema: plainSchema(chat.schema) }, async () => completion);
  app.post(postBusyChat.path, { schema: plainSchema(chat.schema) }, async () => {
    beBusy();
    return completion;
  });
  app.get<{ Params: { id: string } }>(
    model.url,
    { schema: plainSchema(model.schema) },
    async ({ params }) => ({ ...modelCard, id: params.id }),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, tokens: [] };
}

function beBusy(): void {
  const until = performance.now() + busyMicros / 1000;
  while (performance.now() < until);
}

function plainSchema(schema: RouteSchema): RouteSchema {
  return JSON.parse(JSON.stringify(schema)) as RouteSchema;
}

const hello = process.argv[2] === 'kit' ? await startKit() : await startBare();
serveOrders(hello, () => {});

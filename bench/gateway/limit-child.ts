// What ours cannot beat: `bare`, node:http that hands everything through to an upstream by undici;
// `noop`, a Fastify that reads a request and answers what it has.
import Fastify from 'fastify';
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { serveOrders } from '../harness/measured-child.ts';
import { completion, path } from './exchange.ts';
import { listen } from '../harness/listen.ts';

function startBare(upstreamUrl: string): Promise<string> {
  const pool = new Pool(upstreamUrl, { connections: 128 });
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const { 'content-length': length = '0' } = request.headers;
    const headers = { authorization, 'content-type': type, 'content-length': length };
    pool
      .stream(
        { path: request.url ?? path, method: 'POST', headers, body: request },
        ({ statusCode, headers: given }) => response.writeHead(statusCode, given),
      )
      .catch(() => response.destroy());
  });
  return listen(server);
}

async function startNoop(): Promise<string> {
  const app = Fastify({ logger: false, keepAliveTimeout: 600_000 });
  const body = {
    type: 'object',
    required: ['model', 'messages'],
    properties: {
      model: { type: 'string' },
      messages: { type: 'array', items: { type: 'object' } },
    },
  };
  const bytes = Buffer.from(completion);
  app.post(path, { schema: { body } }, (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(bytes),
  );
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const [kind, upstreamUrl = ''] = process.argv.slice(2);
const url = kind === 'bare' ? await startBare(upstreamUrl) : await startNoop();
serveOrders({ url }, () => {});

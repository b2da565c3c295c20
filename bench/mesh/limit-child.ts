// What ours cannot beat, with a text that both answer: `bare`, node:http that reads a request; `fastify`,
// a Fastify that parses it.
import Fastify from 'fastify';
import { createServer } from 'node:http';
import { listen } from '../harness/listen.ts';
import { serveOrders } from '../harness/measured-child.ts';

const keepAliveTimeout = 600_000;

function startBare(bytes: Buffer): Promise<string> {
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': bytes.length,
      });
      response.end(bytes);
    });
  });
  return listen(server);
}

function startFastify(bytes: Buffer): Promise<string> {
  const app = Fastify({ logger: false, keepAliveTimeout });
  app.post('*', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const [kind, text = ''] = process.argv.slice(2);
const bytes = Buffer.from(text);
serveOrders({ url: await (kind === 'bare' ? startBare(bytes) : startFastify(bytes)) }, () => {});

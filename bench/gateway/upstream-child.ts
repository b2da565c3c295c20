// A provider that knows two answers: a whole one, and one in chunks, each written by itself.
import { createServer, type ServerResponse } from 'node:http';
import { serveOrders } from '../harness/measured-child.ts';
import { chunks, completion, done, usageChunk } from './exchange.ts';
import { listen } from '../harness/listen.ts';

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString('latin1');
    if (/"stream": ?true/.test(body)) return sendChunks(response, body);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': completion.length,
    });
    response.end(completion);
  });
});

function sendChunks(response: ServerResponse, body: string): void {
  const hasUsage = /"include_usage": ?true/.test(body);
  const events = [...chunks, ...(hasUsage ? [usageChunk] : []), done];
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  let next = 0;
  const send = () => {
    response.write(events[next] ?? '');
    next += 1;
    if (next < events.length) setImmediate(send);
    else response.end();
  };
  send();
}

serveOrders({ url: await listen(server) }, () => {});

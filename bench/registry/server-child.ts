// The MCP server over HTTP; `GET /count` says how many exchanges there were.
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createServer } from 'node:http';
import { fromWeb } from '../../src/registry/links/testing.ts';
import { listen } from '../harness/listen.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { createEchoServer } from './echo-server.ts';

const handler = createMcpHandler(createEchoServer);
const answer = fromWeb((request) => handler.fetch(request));
let count = 0;
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  if (request.method === 'GET') {
    response.end(String(count));
    return;
  }
  count += 1;
  answer(request, response);
});
serveOrders({ url: await listen(server) }, () => {});

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aConnection, linkOver, openAggregate } from '../../src/registry/aggregate/testing.ts';
import type { Link } from '../../src/registry/links/link.ts';
import { openFixture } from './fixture-server.ts';

/**
 * The registry with the fixture behind it, as a virtual server in which nothing has a prefix, on a
 * port whose requests get a credential: the suites know none. Prints the address and waits.
 */
const fixture = await openFixture();
const client = new Client(
  { name: 'registry', version: '1' },
  { versionNegotiation: { mode: 'auto' } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(fixture.url)));
const { link, offer } = await linkOver(client);
const ground = await openAggregate({ open: async (): Promise<Link> => link });
ground.directory.put(aConnection({ name: 'fixture', offer }));

const authorization = `Bearer ${await ground.token(['registry:write', 'registry:call'])}`;
await fetch(`${ground.address}/virtual-servers`, {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify({
    name: 'conformance',
    tools: [{ connection: 'fixture', tool: '*', as: '*' }],
    prompts: [{ connection: 'fixture', prompt: '*', as: '*' }],
    resources: ['fixture'],
  }),
});

const { hostname, port } = new URL(ground.address);
const front = createServer((incoming, outgoing) => {
  const onward = httpRequest(
    {
      hostname,
      port,
      path: '/mcp/conformance',
      method: incoming.method,
      headers: { ...incoming.headers, authorization },
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
});
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
console.log(`http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`);

process.once('SIGTERM', () => process.exit(0));

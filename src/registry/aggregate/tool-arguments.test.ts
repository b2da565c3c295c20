import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import type { Link } from '../links/link.ts';
import { aConnection, emptyOffer, openAggregate } from './testing.ts';

const tool = {
  name: 'open',
  inputSchema: {
    type: 'object' as const,
    properties: { path: { type: 'string' } },
    required: ['path'],
  },
};

test.each([
  ['/mcp', (input: object) => ({ name: 'strict__open', arguments: { ...input } })],
  [
    '/mcp?mode=lean',
    (input: object) => ({
      name: 'registry_call',
      arguments: { name: 'strict__open', arguments: input },
    }),
  ],
])(
  'arguments that do not fit the tool are not sent by %s, and why can be read',
  async (path, of) => {
    const sent: unknown[] = [];
    const link: Pick<Link, 'callTool'> = {
      callTool: async (_name, input) => {
        sent.push(input);
        return { content: [] };
      },
    };
    await using ground = await openAggregate({ open: async () => link as Link });
    ground.directory.put(aConnection({ name: 'strict', offer: { ...emptyOffer, tools: [tool] } }));
    const client = await connect(ground, path);
    for (const input of [{}, { path: 7 }]) {
      expect(await client.callTool(of(input))).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('the arguments do not fit the tool') }],
      });
    }
    expect(sent).toEqual([]);
    await client.callTool(of({ path: 'a' }));
    expect(sent).toEqual([{ path: 'a' }]);
    await client.close();
  },
);

test.each([
  ['no name', { tool: 'strict__open' }, 'name must be the name of a tool'],
  ['a text', { name: 'strict__open', arguments: '{"path":"a"}' }, 'must be an object'],
  ['a list', { name: 'strict__open', arguments: ['a'] }, 'must be an object'],
])('a lean call with %s in place of arguments is not sent', async (_what, given, why) => {
  await using ground = await openAggregate({ open: () => Promise.reject(new Error('opened')) });
  const lax = { name: 'open', inputSchema: { type: 'object' as const } };
  ground.directory.put(aConnection({ name: 'strict', offer: { ...emptyOffer, tools: [lax] } }));
  const client = await connect(ground, '/mcp?mode=lean');
  expect(await client.callTool({ name: 'registry_call', arguments: given })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(why) }],
  });
  await client.close();
});

async function connect(ground: Awaited<ReturnType<typeof openAggregate>>, path: string) {
  const headers = { authorization: `Bearer ${await ground.token(['registry:call'])}` };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(ground.address + path), { requestInit: { headers } }),
  );
  return client;
}

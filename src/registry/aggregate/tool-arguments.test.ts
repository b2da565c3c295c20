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
    const headers = { authorization: `Bearer ${await ground.token(['registry:call'])}` };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(ground.address + path), {
        requestInit: { headers },
      }),
    );
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

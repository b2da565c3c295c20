import { expect, test } from 'vitest';
import type { CallerClients } from '../caller-clients.ts';
import { MeshAgents } from './mesh-agents.ts';
import { aCaller } from './testing.ts';

function meshOf(count: number) {
  const offsets: number[] = [];
  const all = Array.from({ length: count }, (_, index) => ({
    agentId: `agent-${index}`,
    status: 'active',
    load: 0,
    capabilities: [],
    metadata: index === 0 ? { name: 'The first' } : {},
    ...(index === 1 ? { card: { name: 'The second' } } : {}),
  }));
  const listAgents = async ({ query }: { query: { limit: number; offset: number } }) => {
    offsets.push(query.offset);
    return { agents: all.slice(query.offset, query.offset + query.limit), total: count };
  };
  // Only what is asked of the mesh.
  const clients = (() => ({ listAgents })) as never as CallerClients;
  return { agents: new MeshAgents(clients), offsets };
}

test('all agents of a mesh are read, under the names by which they go', async () => {
  const { agents, offsets } = meshOf(150);
  const listed = await agents.list(aCaller('usr_one'));
  expect(listed).toMatchObject({ total: 150 });
  expect(listed.agents.slice(0, 3).map(({ name }) => name)).toEqual([
    'The first',
    'The second',
    'agent-2',
  ]);
  expect(listed.agents).toHaveLength(150);
  expect(offsets).toEqual([0, 100]);
});

test('a mesh of thousands is read in part, and counted whole', async () => {
  const { agents, offsets } = meshOf(5_000);
  const { agents: listed, total } = await agents.list(aCaller('usr_one'));
  expect([listed.length, total, offsets.length]).toEqual([500, 5_000, 5]);
});

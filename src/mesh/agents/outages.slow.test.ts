import { expect, test } from 'vitest';
import { openGround, startAgents } from './testing.ts';

test('nobody falls silent while the mesh is away', async () => {
  await using own = await openGround();
  let nowMs = Date.now();
  const now = () => nowMs;
  const before = await startAgents(own, { now });
  const body = { agentId: 'patient', capabilities: [], heartbeatInterval: 5 };
  await before.call('POST', '/api/v1/agents/register', body);
  await before[Symbol.asyncDispose]();
  nowMs += 3_600_000;
  await using late = await startAgents(own, { now });
  await late.registry.checkSilence();
  expect(late.registry.directory.find('patient')?.status).toBe('active');
  nowMs += 15_000;
  await late.registry.checkSilence();
  expect(late.registry.directory.find('patient')?.status).toBe('suspect');
});

test('what the database does not take is neither acknowledged nor known', async () => {
  await using own = await openGround();
  await using alone = await startAgents(own);
  await own.database.query('alter table mesh.agents rename to elsewhere');
  const body = { agentId: 'lost', capabilities: ['lost'] };
  const refused = await alone.call('POST', '/api/v1/agents/register', body);
  expect(refused.status).toBe(500);
  expect(alone.registry.directory.find('lost')).toBeUndefined();
  await own.database.query('alter table mesh.elsewhere rename to agents');
  expect((await alone.call('POST', '/api/v1/agents/register', body)).status).toBe(201);
});

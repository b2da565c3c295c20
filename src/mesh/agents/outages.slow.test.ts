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

test.each(['the same process', 'the next process'])(
  'who falls silent is noticed after the clock was set back, by %s',
  async (which) => {
    await using own = await openGround();
    const startedAtMs = Date.now();
    let nowMs = startedAtMs + 7 * 86_400_000;
    const now = () => nowMs;
    await using ahead = await startAgents(own, { now });
    for (const agentId of ['dead', 'living']) {
      const body = { agentId, capabilities: [], heartbeatInterval: 5 };
      await ahead.call('POST', '/api/v1/agents/register', body);
    }
    await ahead.registry.checkSilence();
    nowMs = startedAtMs;
    await using next = await startAgents(own, { now });
    const { registry, call } = which === 'the same process' ? ahead : next;
    await registry.checkSilence();
    const statuses = () => ['dead', 'living'].map((id) => registry.directory.find(id)?.status);
    expect(statuses()).toEqual(['active', 'active']);
    nowMs += 25_000;
    await call('POST', '/api/v1/agents/living/heartbeat', {});
    nowMs += 5_000;
    await registry.checkSilence();
    expect(statuses()).toEqual(['offline', 'active']);
  },
);

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

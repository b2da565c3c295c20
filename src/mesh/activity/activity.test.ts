import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import { silentLog } from '../../kit/testing.ts';
import { TestClient } from '../../kit/sockets/testing.ts';
import { openGround, startAgents, type Ground } from '../agents/testing.ts';
import { ActivityFeed } from './activity-feed.ts';

let ground: Ground;
let mesh: Awaited<ReturnType<typeof startAgents>>;
let other: Awaited<ReturnType<typeof startAgents>>;

beforeAll(async () => {
  ground = await openGround();
  mesh = await startAgents(ground);
  other = await startAgents(ground);
});

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

async function follow(at: { readonly url: string } = mesh): Promise<TestClient> {
  const authorization = `Bearer ${await (at === other ? other : mesh).tokenOf('usr_reader', [])}`;
  const client = new TestClient(`${at.url}/api/v1/activity/stream`, { headers: { authorization } });
  return client.opened();
}

test('the stream is refused without a token', async () => {
  const client = new TestClient(`${mesh.url}/api/v1/activity/stream`);
  expect((await client.refused()).status).toBe(401);
});

test('a malformed subscription is told so', async () => {
  const client = await follow();
  client.send({ action: 'subscribe', filters: { agentIds: 'all' } });
  expect(await client.next()).toMatchObject({ type: 'error', error: { code: 'VALIDATION_ERROR' } });
  client.socket.close();
});

test('events come as the interface shows, from every replica, and only those asked for', async () => {
  const client = await follow(other);
  client.send({
    action: 'subscribe',
    ack: true,
    filters: { agentIds: ['a1', 'a2'], eventTypes: ['task-executed', 'agent-registered'] },
  });
  expect(await client.next()).toMatchObject({ type: 'subscribed' });
  mesh.feed.tell('task-executed', 'a3', {});
  mesh.feed.tell('vote-cast', 'a1', {});
  const body = { agentId: 'a1', capabilities: ['x'] };
  await mesh.call('POST', '/api/v1/agents/register', body);
  mesh.feed.tell('task-executed', 'a2', { taskId: 't1', duration: 12, status: 'completed' });
  expect(await client.take(2)).toEqual([
    {
      eventId: expect.stringMatching(/^evt_/),
      type: 'agent-registered',
      agentId: 'a1',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: expect.objectContaining({ capabilities: ['x'] }),
      seq: expect.any(Number),
    },
    expect.objectContaining({
      type: 'task-executed',
      agentId: 'a2',
      data: { taskId: 't1', duration: 12, status: 'completed' },
    }),
  ]);
  client.socket.close();
});

test('empty filters leave nothing out, and what was missed is replayed', async () => {
  const client = await follow();
  client.send({ action: 'subscribe', ack: true, filters: { agentIds: [], eventTypes: [] } });
  const { seq } = (await client.next()) as { seq: number };
  mesh.feed.tell('swarm-created', '', { swarmId: 's1' });
  await client.next();
  client.socket.close();
  const again = await follow();
  again.send({ action: 'subscribe', after: seq });
  expect(await again.next()).toMatchObject({ type: 'swarm-created', data: { swarmId: 's1' } });
  again.socket.close();
});

test('an agent’s change of status is told once, whatever replica noticed', async () => {
  const client = await follow();
  client.send({ action: 'subscribe', ack: true, filters: { eventTypes: ['agent-status'] } });
  await client.next();
  await mesh.call('POST', '/api/v1/agents/register', { agentId: 'moody', capabilities: [] });
  const beat = (status: string) => other.call('POST', '/api/v1/agents/moody/heartbeat', { status });
  // oxlint-disable-next-line unicorn/no-useless-undefined
  const told = () => client.next();
  expect((await other.callAs('usr_owner')('GET', '/api/v1/agents/moody')).status).toBe(200);
  await beat('busy');
  await beat('busy');
  await beat('draining');
  expect(await told()).toMatchObject({
    agentId: 'moody',
    data: { status: 'busy', previous: 'active' },
  });
  expect(await told()).toMatchObject({ data: { status: 'draining', previous: 'busy' } });
  client.socket.close();
});

test('metrics and health tell what was measured', async () => {
  mesh.feed.tell('task-executed', 'a1', { taskId: 't2', duration: 40, status: 'completed' });
  mesh.feed.tell('task-failed', 'a1', { taskId: 't3', duration: 2_000, status: 'timed-out' });
  await mesh.call('POST', '/api/v1/agents/discover', { capabilities: ['x'] });
  const response = await fetch(`${mesh.url}/api/v1/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const text = await response.text();
  const total = mesh.registry.directory.size;
  expect(text).toContain('# TYPE agent_mesh_agents_total gauge');
  expect(text).toContain(`\nagent_mesh_agents_total ${total}\n`);
  expect(text).toContain('# TYPE agent_mesh_tasks_total counter');
  expect(text).toMatch(/\nagent_mesh_tasks_total 4\n/);
  expect(text).toContain('# TYPE agent_mesh_latency_seconds histogram');
  expect(text).toContain('agent_mesh_latency_seconds_bucket{le="0.05"} 2');
  expect(text).toContain('agent_mesh_latency_seconds_count 3');
  expect(text).toContain('agent_mesh_task_outcomes_total{status="timed-out"} 1');
  expect(text).toContain('agent_mesh_discovery_seconds_count 1');
  expect((await fetch(`${mesh.url}/metrics`)).status).toBe(200);
  const { body } = await mesh.call('GET', '/api/v1/health');
  expect(body).toMatchObject({
    status: 'healthy',
    services: { grpc: 'healthy' },
    metrics: { totalAgents: total, activeSwarms: 0, averageLatency: 684 },
  });
  expect(body.metrics.messagesPerSecond).toBeGreaterThan(0);
});

test('telling neither waits nor fails when the bus is away', async () => {
  const bus = new LocalBus({ log: silentLog });
  const told: string[] = [];
  const feed = new ActivityFeed({ bus, log: silentLog, onEvent: (type) => told.push(type) });
  await bus[Symbol.asyncDispose]();
  feed.tell('task-executed', 'a1', {});
  feed.tell('task-failed', 'a1', {});
  await feed[Symbol.asyncDispose]();
  expect(told).toEqual(['task-executed', 'task-failed']);
});

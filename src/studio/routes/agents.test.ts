import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { callerWith } from '../../kit/http/testing.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { testIdentity } from '../../kit/identity/testing.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { agentIdOf, subjectOf } from '../agents/credentials.ts';
import { openAgentGround, startAgents, testTemplates } from '../agents/testing.ts';
import { agentRoutes } from '../schemas/agents.ts';
import { workspaceRoutes } from '../schemas/workspaces.ts';
import { WorkspaceDirectory } from '../workspaces/workspace-directory.ts';
import { agentHandlers } from './agents.ts';
import { workspaceHandlers } from './workspaces.ts';

const contract = {
  name: 'studio',
  title: 'Agents',
  version: '1.0.0',
  description: 'Agents and workspaces alone.',
  error: plainEnvelope.schema,
  routes: { ...agentRoutes, ...workspaceRoutes },
} as const satisfies Contract;

const lifetime = new Lifetime(silentLog);
const worker = ['agent:read', 'agent:execute'];
const url = '/api/v1/agents';

let studio: Awaited<ReturnType<typeof start>>;

async function start() {
  const ground = lifetime.own('the ground', await openAgentGround(migrations));
  const root = await mkdtemp(join(tmpdir(), 'ennead-agents-'));
  lifetime.defer('the folder', () => rm(root, { recursive: true, force: true }));
  const { database: sql, bus, machine } = ground;
  const log = silentLog;
  const workspaces = new WorkspaceDirectory({
    sql,
    bus,
    log,
    root,
    quotaBytes: 1_000_000,
    clear: (id) => parts.agents.removeWorkspace(id),
    agents: {
      isAgent: (subject) => agentIdOf(subject) !== undefined,
      workspaceOf: (subject) => parts.agents.workspaceOf(subject),
    },
  });
  const parts = lifetime.own('the agents', await startAgents(ground, { workspaces }));
  lifetime.own('the workspaces', workspaces);
  await workspaces.start();
  const { http, issuer } = await createTestServer(contract);
  const tasks = { counts: () => ({ running: 1, queued: 2 }) };
  http.serve(contract, {
    ...agentHandlers({ ...parts, tasks }),
    ...workspaceHandlers(workspaces),
  });
  const address = await listenAnywhere(http);
  lifetime.defer('http', () => http.close(0));
  const tokenOf = (sub: string, permissions: readonly string[] = worker) =>
    issuer.sign({ sub, permissions: [...permissions] });
  const callAs = async (sub: string, permissions?: readonly string[]) =>
    callerWith(address, await tokenOf(sub, permissions));
  return { ...ground, ...parts, workspaces, machine, address, tokenOf, callAs };
}

const migrations = new URL('../migrations/', import.meta.url);

beforeAll(async () => {
  studio = await start();
});

beforeEach(async () => {
  studio.machine.missing = undefined;
});

afterAll(async () => lifetime[Symbol.asyncDispose]());

async function spawn(subject: string, body: object = {}) {
  const call = await studio.callAs(subject);
  const answer = await call('POST', `${url}/spawn`, { type: 'assistant', ...body });
  expect(answer.status).toBe(201);
  return answer.body;
}

/** A workspace of Ada's with a member of each role. */
async function createWorkspace() {
  const call = await studio.callAs('ada');
  const members = ['Developer', 'Reviewer', 'Viewer', 'Guest'].map((role) => ({
    userId: role.toLowerCase(),
    role,
  }));
  const { body } = await call('POST', '/api/v1/workspaces', { name: 'W', members });
  return body.id as string;
}

describe('agents are refused', () => {
  test('to who may neither read nor execute', async () => {
    const { id } = await spawn('ada');
    const call = await studio.callAs('ada', []);
    for (const [method, path] of [
      ['GET', url],
      ['GET', `${url}/${id}`],
      ['GET', `${url}/${id}/logs`],
      ['GET', `${url}/${id}/health`],
      ['POST', `${url}/${id}/stop`],
      ['DELETE', `${url}/${id}`],
      ['GET', '/api/v1/runtimes'],
      ['GET', '/api/v1/templates'],
    ] as const) {
      expect([path, (await call(method, path)).status]).toEqual([path, 403]);
    }
    const reader = await studio.callAs('ada', ['agent:read']);
    expect((await reader('GET', `${url}/${id}`)).status).toBe(200);
    expect((await reader('POST', `${url}/${id}/stop`)).status).toBe(403);
    expect((await reader('POST', `${url}/spawn`, { type: 'assistant' })).status).toBe(403);
  });

  test.each([
    ['no type', {}],
    ['an unknown runtime', { type: 'a', runtime: 'moon' }],
    ['resources that are no quantities', { type: 'a', resources: { cpu: 'much' } }],
    ['a negative life', { type: 'a', ttl: -1 }],
    ['more than is allowed', { type: 'a', resources: { memory: '400Gi' } }],
    ['a name that no database holds', { type: 'a', name: 'a\0b' }],
  ])('with %s', async (_what, body) => {
    const call = await studio.callAs('ada');
    expect((await call('POST', `${url}/spawn`, body)).status).toBe(400);
  });

  test('where the runtime cannot be used, with what is missing', async () => {
    studio.machine.missing = 'no daemon answers at /run/docker.sock';
    const call = await studio.callAs('ada');
    const body = { type: 'assistant', runtime: 'docker' };
    const answer = await call('POST', `${url}/spawn`, body);
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).toContain('"reason":"runtime_unavailable"');
    expect(JSON.stringify(answer.body)).toContain('no daemon answers');
    const { body: listed } = await call('GET', '/api/v1/runtimes');
    expect(listed.runtimes).toContainEqual({
      name: 'docker',
      available: false,
      missing: 'no daemon answers at /run/docker.sock',
      limits: [{ name: 'memory', enforced: true, means: 'by script' }],
    });
  });

  test('in a workspace of others, which does not exist', async () => {
    const workspaceId = await createWorkspace();
    const call = await studio.callAs('mallory');
    const answer = await call('POST', `${url}/spawn`, { type: 'assistant', workspaceId });
    expect(answer.status).toBe(404);
    const { id } = await spawn('ada', { workspaceId });
    for (const path of ['', '/logs', '/health']) {
      expect((await call('GET', `${url}/${id}${path}`)).status).toBe(404);
    }
    expect((await call('DELETE', `${url}/${id}`)).status).toBe(404);
  });
});

test.each(['agt_0', 'assistant-1', 'Nobody.of:us'])(
  '%s is 404 where nobody is called so',
  async (id) => {
    const call = await studio.callAs('ada');
    for (const [path, code] of [
      [`${url}/${id}`, 'AGENT_NOT_FOUND'],
      [`${url}/${id}/health`, 'AGENT_NOT_FOUND'],
      [`/api/v1/workspaces/${id}`, 'WORKSPACE_NOT_FOUND'],
    ] as const) {
      const { status, body } = await call('GET', path);
      expect([path, status, body.error.code]).toEqual([path, 404, code]);
    }
  },
);

describe('in a workspace', () => {
  test.each([
    ['developer', 201, 200, 200],
    ['reviewer', 403, 200, 403],
    ['viewer', 403, 200, 403],
    ['guest', 403, 404, 404],
  ])('a %s spawns %i, sees %i and stops %i', async (member, spawned, seen, stopped) => {
    const workspaceId = await createWorkspace();
    const { id } = await spawn('ada', { workspaceId });
    const call = await studio.callAs(member);
    const answer = await call('POST', `${url}/spawn`, { type: 'assistant', workspaceId });
    expect(answer.status).toBe(spawned);
    expect((await call('GET', `${url}/${id}`)).status).toBe(seen);
    const listed = await call('GET', `${url}?workspaceId=${workspaceId}`);
    expect(listed.body.total > 0).toBe(seen === 200);
    expect((await call('POST', `${url}/${id}/stop`)).status).toBe(stopped);
  });

  test.each([
    ['has left', []],
    ['is a guest by now', [{ userId: 'developer', role: 'Guest' }]],
  ])('who spawned an agent and %s sees nothing of it any more', async (_, members) => {
    const workspaceId = await createWorkspace();
    const { id } = await spawn('developer', { workspaceId });
    const call = await studio.callAs('developer');
    expect((await call('GET', `${url}/${id}/logs`)).status).toBe(200);
    const ada = await studio.callAs('ada');
    const changed = await ada('PUT', `/api/v1/workspaces/${workspaceId}`, { members });
    expect(changed.status).toBe(200);
    for (const [method, path] of [
      ['GET', `${url}/${id}`],
      ['GET', `${url}/${id}/logs`],
      ['GET', `${url}/${id}/health`],
      ['POST', `${url}/${id}/stop`],
      ['DELETE', `${url}/${id}`],
    ] as const) {
      const { status, body } = await call(method, path);
      expect([path, status, body.error.code]).toEqual([path, 404, 'AGENT_NOT_FOUND']);
    }
    const listed = await call('GET', `${url}?workspaceId=${workspaceId}`);
    expect(listed.body.total).toBe(0);
    expect((await ada('DELETE', `${url}/${id}`)).status).toBe(200);
  });

  test('agents end and are forgotten with it', async () => {
    const workspaceId = await createWorkspace();
    const { id } = await spawn('ada', { workspaceId });
    const call = await studio.callAs('ada');
    expect((await call('DELETE', `/api/v1/workspaces/${workspaceId}`)).status).toBe(200);
    expect(studio.machine.of(id).isEnded).toBe(true);
    expect((await call('GET', `${url}/${id}`)).status).toBe(404);
  });

  test('an agent may work on its files, in no other workspace, and make none of its own', async () => {
    const [own, other] = [await createWorkspace(), await createWorkspace()];
    const { id } = await spawn('ada', { workspaceId: own });
    const agent = { ...testIdentity(subjectOf(id)), kind: 'service' as const };
    const { workspaces } = studio;
    for (const permission of ['workspace:read', 'code:read', 'code:edit'] as const) {
      expect((await workspaces.require(agent, own, permission)).id).toBe(own);
    }
    for (const permission of ['workspace:write', 'agents:view', 'settings:view'] as const) {
      await expect(workspaces.require(agent, own, permission)).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    await expect(workspaces.require(agent, other, 'workspace:read')).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(workspaces.create(agent, { name: 'mine' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const user = testIdentity(subjectOf(id));
    await expect(workspaces.require(user, own, 'workspace:read')).rejects.toMatchObject({
      code: 'not_found',
    });
    await studio.agents.stop(testIdentity('ada'), id);
    await expect(workspaces.require(agent, own, 'workspace:read')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('an agent is shown', () => {
  test('with its resources as texts and its times', async () => {
    const agent = await spawn('ada', { resources: { cpu: '0.25' }, ttl: 60, name: 'A' });
    expect(agent).toMatchObject({
      name: 'A',
      type: 'assistant',
      template: 'assistant',
      status: 'running',
      runtime: 'local',
      capabilities: ['chat'],
      resources: { cpu: '250m', memory: '256Mi' },
      restarts: 0,
    });
    const livesMs = Date.parse(agent.expiresAt) - Date.parse(agent.createdAt);
    expect(livesMs).toBe(60_000);
  });

  test('by pages, and by status', async () => {
    const subject = newId('usr');
    const ids = [(await spawn(subject)).id, (await spawn(subject)).id];
    const call = await studio.callAs(subject);
    await call('POST', `${url}/${ids[0]}/stop`);
    const { body: all } = await call('GET', `${url}?limit=1`);
    expect([all.total, all.limit, all.agents.map(({ id }: { id: string }) => id)]).toEqual([
      2,
      1,
      [ids[1]],
    ]);
    const { body: stopped } = await call('GET', `${url}?status=stopped`);
    expect(stopped.agents.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
    await studio.agents.stop(testIdentity(subject), ids[1]);
  });

  test('with health as the interface names it', async () => {
    const { id } = await spawn('carol');
    const call = await studio.callAs('carol');
    const { body } = await call('GET', `${url}/${id}/health`);
    expect(body).toEqual({
      agentId: id,
      status: 'running',
      uptime: expect.any(Number),
      metrics: { cpu: '125m', memory: '87Mi', tasks: { running: 1, queued: 2 } },
      lastHeartbeat: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await call('POST', `${url}/${id}/stop`);
    const { body: ended } = await call('GET', `${url}/${id}/health`);
    expect(ended).toMatchObject({ status: 'stopped', uptime: 0, metrics: { cpu: '0m' } });
  });
});

describe('logs', () => {
  test('come by pages behind a place, and the last ones without', async () => {
    const { id } = await spawn('dave');
    for (let at = 1; at <= 5; at += 1) studio.machine.of(id).print(`line ${at}`);
    await studio.logs.flush();
    const call = await studio.callAs('dave');
    const { body: end } = await call('GET', `${url}/${id}/logs?limit=2`);
    expect(end.logs.map(({ text }: { text: string }) => text)).toEqual(['line 4', 'line 5']);
    const { body: first } = await call('GET', `${url}/${id}/logs?after=0&limit=3`);
    expect(first.logs.map(({ text }: { text: string }) => text)).toEqual([
      'running',
      'line 1',
      'line 2',
    ]);
    const { body: rest } = await call('GET', `${url}/${id}/logs?after=${first.last}`);
    expect(rest.logs).toHaveLength(3);
    await studio.agents.stop(testIdentity('dave'), id);
  });

  test('are followed to the end of the agent, behind the last event that one has', async () => {
    const { id } = await spawn('erin');
    studio.machine.of(id).print('before');
    await studio.logs.flush();
    const response = await fetch(`${studio.address}${url}/${id}/logs?follow=true`, {
      headers: {
        authorization: `Bearer ${await studio.tokenOf('erin')}`,
        'last-event-id': '1',
      },
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await studio.agents.stop(testIdentity('erin'), id);
    const text = await response.text();
    expect(text).toMatch(/^id: 2\ndata: .*"text":"before"/);
    expect(text).toContain('"text":"stopped"');
  });

  test('are followed by who has them all before anything else is told', async () => {
    const { id } = await spawn('frank');
    await studio.logs.flush();
    const call = await studio.callAs('frank');
    const { body } = await call('GET', `${url}/${id}/logs`);
    const response = await fetch(`${studio.address}${url}/${id}/logs?follow=true`, {
      headers: {
        authorization: `Bearer ${await studio.tokenOf('frank')}`,
        'last-event-id': String(body.last),
      },
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await studio.agents.stop(testIdentity('frank'), id);
    expect(await response.text()).toContain('"text":"stopped"');
  });
});

test('templates are listed with what agents get that ask for nothing', async () => {
  const call = await studio.callAs('ada');
  const { body } = await call('GET', '/api/v1/templates');
  expect(body).toEqual({
    templates: testTemplates.map((template) => ({
      ...template,
      resources: { cpu: '500m', memory: '256Mi' },
    })),
    total: 1,
    limit: 20,
    offset: 0,
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const password = 'correct horse battery staple';
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let base: number;
let ennead: Ennead;
let token = '';

beforeAll(async () => {
  const [made, free] = await Promise.all([temporaryFolder(), freePortBase()]);
  folder = made;
  base = free;
  ennead = await start();
});

afterAll(async () => {
  // A clean stop ends the agents of this machine too.
  await ennead.stop();
  await folder.remove();
});

/** The services that agents cannot do without, on the same data folder each time. */
async function start(): Promise<Ennead> {
  const started = startEnnead(['run', 'auth', 'mesh', 'studio'], {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_TRACER_URL: 'http://127.0.0.1:1',
    ENNEAD_ADMIN_PASSWORD: password,
    STUDIO_AGENT_START_SECONDS: '60',
  });
  await started.ready;
  return started;
}

async function logIn(): Promise<void> {
  const answer = await fetch(`${serviceUrl(base, 'auth')}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      username: 'admin',
      password,
      client_id: 'test',
      grant_type: 'password',
    }),
  });
  token = ((await answer.json()) as { access_token: string }).access_token;
}

async function ask(service: string, method: string, path: string, body?: object) {
  const answer = await fetch(serviceUrl(base, service) + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, body: await answer.json() };
}

const logOf = async (id: string): Promise<string[]> => {
  const { body } = await ask('studio', 'GET', `/api/v1/agents/${id}/logs`);
  return body.logs.map(({ text }: { text: string }) => text);
};

test('an agent is a process on the mesh that outlives the death of the suite and ends when told', async () => {
  await logIn();
  const { body: workspace } = await ask('studio', 'POST', '/api/v1/workspaces', { name: 'W' });
  const spawned = await ask('studio', 'POST', '/api/v1/agents/spawn', {
    type: 'coder',
    workspaceId: workspace.id,
  });
  expect([spawned.status, spawned.body.status]).toEqual([201, 'running']);
  const { id } = spawned.body;

  const onMesh = await ask('mesh', 'GET', `/api/v1/agents/${id}`);
  expect(onMesh.body).toMatchObject({
    agentId: id,
    ownerId: `studio-agt-${id.slice('agt_'.length)}`,
    capabilities: spawned.body.capabilities,
  });
  const health = await ask('studio', 'GET', `/api/v1/agents/${id}/health`);
  expect(health.body).toMatchObject({
    agentId: id,
    status: 'running',
    metrics: {
      cpu: expect.stringMatching(/^\d+m$/),
      memory: expect.stringMatching(/^[1-9]\d*Mi$/),
      tasks: { running: 0, queued: 0 },
    },
    lastHeartbeat: expect.stringMatching(/Z$/),
  });

  await ennead.stop('SIGKILL');
  ennead = await start();
  await logIn();
  await expect.poll(() => logOf(id)).toContain('found running after a restart of the studio');
  const found = await ask('studio', 'GET', `/api/v1/agents/${id}`);
  expect(found.body).toMatchObject({
    status: 'running',
    restarts: 0,
    startedAt: spawned.body.startedAt,
  });

  const stopped = await ask('studio', 'POST', `/api/v1/agents/${id}/stop`);
  expect(stopped.body.status).toBe('stopped');
  expect((await ask('mesh', 'GET', `/api/v1/agents/${id}`)).status).toBe(404);
  expect((await ask('studio', 'DELETE', `/api/v1/workspaces/${workspace.id}`)).status).toBe(200);
  expect((await ask('studio', 'GET', `/api/v1/agents/${id}`)).status).toBe(404);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { callJson } from '../../kit/http/testing.ts';
import { createTestServer, listenAnywhere } from '../../kit/testing.ts';
import { taskRoutes } from '../schemas/tasks.ts';
import { openTaskGround } from '../tasks/ground-testing.ts';

import { taskHandlers } from './tasks.ts';

const contract = {
  name: 'studio',
  title: 'Tasks',
  version: '1.0.0',
  description: 'The tasks alone.',
  error: plainEnvelope.schema,
  routes: taskRoutes,
} as const satisfies Contract;

let ground: Awaited<ReturnType<typeof openTaskGround>>;
let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  ground = await openTaskGround();
  server = await createTestServer(contract);
  server.http.serve(contract, taskHandlers({ tasks: await ground.startTasks() }));
  url = await listenAnywhere(server.http);
});
afterAll(async () => {
  await server.http.close(0);
  await ground.clear();
  await ground[Symbol.asyncDispose]();
});

async function call(
  method: string,
  path: string,
  { body, permissions = ['agent:execute'], headers = {} }: CallGiven = {},
) {
  const bearer = await server.issuer.sign({ sub: 'usr_ada', permissions: [...permissions] });
  return callJson(url + path, { method, bearer, body, headers });
}

interface CallGiven {
  readonly body?: unknown;
  readonly permissions?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const agentTasks = '/api/v1/agents/agt_1/tasks';

test('a body that is none of the interface’s is refused, and nothing is stored', async () => {
  ground.agents.set({ id: 'agt_1', status: 'restarting' });
  const bodies = [
    {},
    { type: 'poetry' },
    { type: 'test', priority: 'urgent' },
    { type: 'refactor', requirements: { timeout: 0 } },
    { type: 'refactor', requirements: { capabilities: 'js' } },
    { type: 'refactor', requirements: { resources: { cpu: 'much' } } },
    { type: 'refactor', requirements: { resources: { memory: '-1' } } },
    { type: 'refactor', input: { prompt: 7 } },
  ];
  for (const body of bodies) {
    expect((await call('POST', agentTasks, { body })).status, JSON.stringify(body)).toBe(400);
  }
  const headers = { 'idempotency-key': 'a b' };
  const body = { type: 'refactor' };
  expect((await call('POST', agentTasks, { body, headers })).status).toBe(400);
  const permissions = ['agent:read'];
  expect((await call('POST', agentTasks, { body, permissions })).status).toBe(403);
  expect((await call('GET', '/api/v1/tasks', { permissions: [] })).status).toBe(403);
  expect((await call('GET', agentTasks, { permissions })).body).toEqual({
    tasks: [],
    total: 0,
    limit: 20,
    offset: 0,
  });
});

test('an accepted task answers the record of the interface, and is read, listed and called off', async () => {
  ground.agents.set({ id: 'agt_1', status: 'restarting', capabilities: ['js'] });
  const body = {
    type: 'refactor',
    priority: 'high',
    requirements: {
      capabilities: ['js'],
      resources: { cpu: '500m', memory: '512Mi' },
      timeout: 60_000,
    },
    input: { prompt: 'shorter', context: { files: ['a.js'] } },
  };
  const headers = { 'idempotency-key': 'once' };
  const given = await call('POST', agentTasks, { body, headers });
  expect(given.status).toBe(202);
  const { taskId } = given.body;
  expect(given.headers.get('location')).toBe(`/api/v1/tasks/${taskId}`);
  expect(given.body).toEqual({
    taskId: expect.stringMatching(/^tsk_/),
    ...body,
    status: 'queued',
    wantedAgent: 'agt_1',
    ownerId: 'usr_ada',
    attempt: 0,
    waiting: { reason: 'agent_not_running', message: expect.any(String) },
    createdAt: expect.any(String),
  });
  const again = await call('POST', agentTasks, { body, headers });
  expect([again.status, again.body.taskId]).toEqual([202, taskId]);
  for (const path of [`${agentTasks}/${taskId}`, `/api/v1/tasks/${taskId}`]) {
    expect((await call('GET', path)).body).toEqual(given.body);
  }
  expect((await call('GET', `/api/v1/agents/agt_2/tasks/${taskId}`)).status).toBe(404);
  const listed = await call('GET', '/api/v1/tasks?status=queued&agentId=agt_1');
  expect(listed.body).toMatchObject({ total: 1, tasks: [{ taskId }] });
  const ended = await call('DELETE', `${agentTasks}/${taskId}`);
  expect(ended.body).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
  expect(ended.body.completedAt).toEqual(expect.any(String));
  const twice = await call('DELETE', `/api/v1/tasks/${taskId}`);
  expect([twice.status, twice.body.error.code]).toEqual([409, 'TASK_FINISHED']);
});

test('all of a task but its type may be left out, and any able agent does it', async () => {
  ground.agents.set({ id: 'agt_1', status: 'running' });
  ground.mesh.work = ({ answer }) =>
    answer({
      text: 'ran',
      artefacts: [
        { kind: 'file', path: 'a.js', hash: 'f00' },
        { kind: 'findings', findings: [{ file: 'a.js', severity: 'info', message: 'ok' }] },
      ],
      model: 'm',
      usage: { promptTokens: 1, completionTokens: 2 },
    });
  const odd = await call('POST', '/api/v1/tasks', {
    body: { type: 'refactor', requirements: { capabilities: ['js'], timeout: 1_500.5 } },
  });
  expect([odd.status, odd.body.requirements.timeout]).toEqual([202, 1_501]);
  const { body } = await call('POST', '/api/v1/tasks', { body: { type: 'code_generation' } });
  const read = () => call('GET', `/api/v1/tasks/${body.taskId}`);
  await expect.poll(async () => (await read()).body.status).toBe('completed');
  expect((await read()).body).toMatchObject({
    assignedAgent: 'agt_1',
    requirements: { capabilities: [], resources: { cpu: '0m', memory: '0' }, timeout: 600_000 },
    result: { text: 'ran', model: 'm', usage: { promptTokens: 1, completionTokens: 2 } },
    artefacts: [{ kind: 'file', path: 'a.js', hash: 'f00' }, { kind: 'findings' }],
    attempt: 1,
  });
});

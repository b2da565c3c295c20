import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const source = 'export const add = (a, b) => a + b;\n';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let upstream: Server;
let base: number;
let ennead: Ennead;
let token: string;

/** What OpenAI would answer: first the wish to write a file, and when that is done, a sentence. */
function answerTo(messages: readonly { readonly role: string }[]): object {
  const isWritten = messages.some(({ role }) => role === 'tool');
  if (isWritten) return { role: 'assistant', content: 'add.js adds two numbers.' };
  const written = JSON.stringify({ path: 'src/add.js', content: source });
  const call = { name: 'write_file', arguments: written };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: call }],
  };
}

/** A provider as OpenAI's own address is: a model list and completions. */
function startUpstream(): Promise<Server> {
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') {
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'gpt-4o', object: 'model' }] }));
      return;
    }
    const { messages } = (await json(request)) as { messages: { role: string }[] };
    const message = answerTo(messages);
    const finish_reason = 'tool_calls' in message ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
    const choices = [{ index: 0, message, finish_reason }];
    const answer = { id: 'chatcmpl-1', object: 'chat.completion', created: 0, model: 'gpt-4o' };
    response.end(JSON.stringify({ ...answer, choices, usage }));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

beforeAll(async () => {
  [folder, base, upstream] = await Promise.all([
    temporaryFolder(),
    freePortBase(),
    startUpstream(),
  ]);
  ennead = startEnnead(['run', 'auth', 'mesh', 'gateway', 'registry', 'tracer', 'studio'], {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
    TRACER_QUIET_MS: '100',
  });
  await ennead.ready;
  const login = await fetch(`${serviceUrl(base, 'auth')}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await readFile(join(folder.path, 'data', 'admin.json')),
  });
  ({ access_token: token } = (await login.json()) as { access_token: string });
});

afterAll(async () => {
  await ennead.stop();
  upstream.close();
  await folder.remove();
});

async function ask<Answer>(service: string, request: string, body?: object): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(serviceUrl(base, service) + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  expect(response.ok, `${request}: ${response.status} ${text}`).toBe(true);
  return (
    response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  ) as Answer;
}

interface Task {
  readonly taskId: string;
  readonly status: string;
  readonly assignedAgent?: string;
  readonly artefacts?: readonly { readonly kind: string; readonly path?: string }[];
}

test('from an empty workspace to a file that an agent wrote', async () => {
  const workspace = await ask<{ id: string }>('studio', 'POST /api/v1/workspaces', {
    name: 'Sums',
    settings: { model: 'openai/gpt-4o' },
  });
  const agent = await ask<{ id: string; status: string }>('studio', 'POST /api/v1/agents/spawn', {
    type: 'coder',
    workspaceId: workspace.id,
    ttl: 600,
  });
  expect(agent.status).toBe('running');

  const found = await ask<{ agents: { agentId: string }[] }>(
    'mesh',
    'POST /api/v1/agents/discover',
    {
      capability: 'code_generation',
    },
  );
  expect(found.agents.map(({ agentId }) => agentId)).toContain(agent.id);

  const tasks = `/api/v1/agents/${agent.id}/tasks`;
  const given = await ask<Task>('studio', `POST ${tasks}`, {
    type: 'code_generation',
    priority: 'high',
    input: { prompt: 'Write a function that adds two numbers.' },
  });
  const read = () => ask<Task>('studio', `GET ${tasks}/${given.taskId}`);
  await expect.poll(async () => (await read()).status, { timeout: 30_000 }).toBe('completed');
  const done = await read();
  expect(done.assignedAgent).toBe(agent.id);
  expect(done.artefacts).toContainEqual(
    expect.objectContaining({ kind: 'file', path: 'src/add.js' }),
  );

  const files = `/api/v1/workspaces/${workspace.id}/files`;
  expect(await ask('studio', `GET ${files}/src/add.js`)).toBe(source);

  const health = await ask<{ status: string; metrics: { tasks: object }; lastHeartbeat: string }>(
    'studio',
    `GET /api/v1/agents/${agent.id}/health`,
  );
  expect(health.metrics.tasks).toEqual({ running: 0, queued: 0 });
  expect(Date.parse(health.lastHeartbeat)).toBeGreaterThan(Date.now() - 120_000);

  const metrics = await ask<string>('gateway', 'GET /api/v1/metrics');
  expect(metrics).toMatch(/provider="openai"/);

  // One trace from the task to the provider.
  await expect
    .poll(servicesOfModelCall, { timeout: 30_000 })
    .toEqual(expect.arrayContaining(['studio', 'mesh', 'gateway']));

  await ask('studio', `POST /api/v1/agents/${agent.id}/stop`);
  const stopped = await ask<{ status: string }>('studio', `GET /api/v1/agents/${agent.id}`);
  expect(stopped.status).toBe('stopped');
});

/** The services whose spans are in the trace that the model's call is part of; none before it is stored. */
async function servicesOfModelCall(): Promise<readonly string[]> {
  const name = encodeURIComponent('POST /api/v1/agents/:id/tasks');
  const list = `GET /api/v1/traces?name=${name}`;
  const { traces } = await ask<{ traces: { traceId: string }[] }>('tracer', list);
  const services = await Promise.all(
    traces.map(async ({ traceId }) => {
      const trace = `GET /api/v1/traces/${traceId}`;
      const { spans } = await ask<{ spans: { service: string }[] }>('tracer', trace);
      return [...new Set(spans.map(({ service }) => service))];
    }),
  );
  return services.find((names) => names.includes('gateway')) ?? [];
}

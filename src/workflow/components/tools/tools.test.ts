import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import { Lifetime } from '../../../kit/lifecycle.ts';
import { silentLog } from '../../../kit/testing.ts';
import { Tracer } from '../../../kit/trace/trace.ts';
import type { NodeContext } from '../component.ts';
import { runComponent, startSystem, type Asked, type Reply } from '../cms/testing.ts';
import { createIdpTokenReader } from './idp-token.ts';
import { createRegistryPort } from './registry-client.ts';
import { toolComponents, type ToolDependencies } from './tool-components.ts';
import { registryContract } from '../../../registry/contract.ts';

const lifetime = new Lifetime(silentLog);
const tracer = new Tracer(() => {});
type System = Awaited<ReturnType<typeof startSystem>>;
let registry: System;
let gitlab: System;
let auth: System;
let mesh: ToolDependencies['mesh'];
let onGitlab: (asked: Asked) => Reply;
let onCall: () => Reply;
let dependencies: ToolDependencies;

const called = { connectionId: 'con_1', tool: 'add', content: [{ type: 'text', text: '3' }] };
const server = (name: string, more: object = {}) => ({
  id: `con_${name}`,
  name,
  type: 'server',
  status: 'active',
  protocol: 'http',
  capabilities: ['add'],
  ...more,
});

function onRegistry({ path, query, body }: Asked): Reply {
  const connections = [
    server('gone', { status: 'disconnected' }),
    server('app', { type: 'client' }),
    server('calc'),
  ].filter(({ name, type }) => name === query.get('name') && type === query.get('type'));
  if (path === '/connections') return { json: { connections } };
  if (path === '/connections/discover') {
    const isKnown = body.capabilities[0] === 'add';
    return {
      json: { connections: isKnown ? [server('calc'), server('app', { type: 'client' })] : [] },
    };
  }
  return onCall();
}

function onAuth({ headers }: Asked): Reply {
  if (headers.authorization !== 'Bearer caller-token') {
    return { status: 404, json: { error: { code: 'idp_token_not_found', message: 'none' } } };
  }
  const answer = { access_token: 'idp-secret', token_type: 'Bearer', expires_in: 60 };
  return { json: { ...answer, created_at: 1, scope: 'api' } };
}

beforeAll(async () => {
  registry = lifetime.own('the registry', await startSystem(onRegistry));
  gitlab = lifetime.own('GitLab', await startSystem((asked) => onGitlab(asked)));
  auth = lifetime.own('auth', await startSystem(onAuth));
});

beforeEach(() => {
  for (const { asked } of [registry, gitlab, auth]) asked.length = 0;
  onCall = () => ({ json: { ...called, result: { sum: 3 }, isError: false, duration: 1 } });
  onGitlab = ({ path }) => ({ json: { path }, headers: { 'x-next-page': '2' } });
  mesh = { executeTask: () => Promise.reject(new Error('not asked for')) };
  const client = createClient(registryContract, { baseUrl: registry.url, tracer });
  const readToken = createIdpTokenReader({ authUrl: auth.url, tracer });
  dependencies = {
    registry: createRegistryPort(client),
    get mesh() {
      return mesh;
    },
    idp: { apiUrl: gitlab.url, readToken },
  };
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const run = async (
  name: string,
  data: Readonly<Record<string, unknown>>,
  context: Partial<NodeContext> = {},
) => (await runComponent(toolComponents(dependencies), { name, data, context })).output;

describe('MCPToolCall', () => {
  test('an unknown server is not found, nor one that is gone, nor a client', async () => {
    for (const name of ['lost', 'gone', 'app']) {
      await expect(run('MCPToolCall', { tool: `${name}__add` })).rejects.toMatchObject({
        code: 'not_found',
        reason: 'server_not_found',
      });
    }
  });

  test('what the registry refuses keeps its reason', async () => {
    onCall = () => ({ status: 409, json: { error: { code: 'TOOL_CHANGED', message: 'changed' } } });
    await expect(run('MCPToolCall', { tool: 'calc__add' })).rejects.toMatchObject({
      code: 'conflict',
      reason: 'tool_changed',
    });
  });

  test.each([
    [401, 'INVALID_TOKEN'],
    [403, 'INSUFFICIENT_PERMISSIONS'],
  ])('a refusal of the service itself is told as such: %d', async (status, code) => {
    onCall = () => ({ status, json: { error: { code, message: 'the token is over' } } });
    await expect(run('MCPToolCall', { tool: 'calc__add' })).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'registry_refused',
      message: 'the registry refuses this service: the token is over',
    });
  });

  test('a tool of a server is called with its parameters, its deadline and the key', async () => {
    const settings = { tool: 'calc__add', params: { a: 1, b: 2 }, timeout: 900 };
    const output = await run('MCPToolCall', settings);
    expect(output).toEqual({ result: { sum: 3 }, content: called.content, isError: false });
    const { path, body, headers } = registry.asked.at(-1) ?? {};
    expect(path).toBe('/connections/con_calc/call');
    expect(body).toEqual({ tool: 'add', arguments: { a: 1, b: 2 }, timeout: 900 });
    expect(headers?.['idempotency-key']).toBe('exe_1:node:');
  });

  test('a bare name goes to any server that offers it', async () => {
    await run('MCPToolCall', { tool: 'add' });
    expect(registry.asked.map(({ path }) => path)).toEqual(['/capabilities/add/call']);
  });

  test('a tool that fails is an answer, or a failure where that is wished', async () => {
    onCall = () => ({ json: { ...called, result: 'no such file', isError: true } });
    const tool = 'calc__add';
    expect(await run('MCPToolCall', { tool })).toMatchObject({ isError: true });
    await expect(run('MCPToolCall', { tool, failOnError: true })).rejects.toMatchObject({
      reason: 'tool_failed',
      message: 'the tool calc__add failed: no such file',
    });
  });
});

test('MCPServerQuery names the servers that have a capability', async () => {
  const { type: _, ...shown } = server('calc');
  expect(await run('MCPServerQuery', { capability: 'add' })).toEqual({
    servers: [shown],
    count: 1,
  });
  expect(await run('MCPServerQuery', { capability: 'fly' })).toEqual({ servers: [], count: 0 });
});

describe('IdpAPI', () => {
  const callerToken = async () => 'caller-token';
  const ask = (data: Readonly<Record<string, unknown>>) => run('IdpAPI', data, { callerToken });

  test('without a caller, or one who came another way, the provider is not asked', async () => {
    await expect(run('IdpAPI', { action: 'projects.list' })).rejects.toMatchObject({
      reason: 'caller_token_missing',
    });
    const other = run('IdpAPI', { action: 'projects.list' }, { callerToken: async () => 'other' });
    await expect(other).rejects.toMatchObject({ code: 'forbidden', reason: 'idp_login_required' });
    expect(gitlab.asked).toEqual([]);
  });

  test.each([
    [{ action: 'projects.explode' }, 'unknown_action'],
    [{ action: 'constructor' }, 'unknown_action'],
    [{ action: 'projects.get' }, 'bad_setting'],
    [{ action: 'projects.get', params: { id: '..' } }, 'bad_setting'],
    [{ action: 'raw', path: '/../admin' }, 'bad_setting'],
    [{ action: 'raw', path: '/%2e%2E/admin' }, 'bad_setting'],
    [{ action: 'raw', path: '/a%2f..%2f..%2f..%2fadmin' }, 'bad_setting'],
    [{ action: 'raw', path: '//evil.test/' }, 'bad_setting'],
    [{ action: 'raw', path: '/a\\..\\b' }, 'bad_setting'],
    [{ action: 'raw', path: 'http://evil.test' }, 'bad_setting'],
  ])('%j is refused before the provider is asked', async (settings, reason) => {
    await expect(ask(settings)).rejects.toMatchObject({ code: 'invalid', reason });
    expect(gitlab.asked).toEqual([]);
  });

  test.each([
    [401, { message: '401 Unauthorized' }, 'forbidden', 'idp_unauthorized'],
    [404, { message: '404 Project Not Found' }, 'not_found', 'idp_not_found'],
    [400, { message: { title: ['is missing'] } }, 'invalid', 'idp_rejected'],
    [500, undefined, 'upstream', 'idp_failed'],
  ])('the status %d fails with what it means', async (status, json, code, reason) => {
    onGitlab = () => ({ status, json });
    const failure = await ask({ action: 'projects.list' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code, reason });
    expect(String(failure)).not.toContain('idp-secret');
  });

  test('a list is asked with the caller’s own token and a query', async () => {
    const params = { owned: true, labels: ['a', 'b'] };
    const output = await ask({ action: 'projects.list', params });
    expect(output).toEqual({ response: { path: '/api/v4/projects' }, status: 200, nextPage: 2 });
    const [asked] = gitlab.asked;
    expect(asked?.headers.authorization).toBe('Bearer idp-secret');
    expect(asked?.query.toString()).toBe('owned=true&labels%5B%5D=a&labels%5B%5D=b');
  });

  test('what creates sends the rest of the parameters as the body', async () => {
    await ask({ action: 'issues.create', params: { id: 'group/project', title: 'Broken' } });
    const [asked] = gitlab.asked;
    expect(asked).toMatchObject({ method: 'POST', body: { title: 'Broken' } });
    expect(asked?.path).toBe('/api/v4/projects/group%2Fproject/issues');
  });

  test('any path below the API can be named', async () => {
    const path = '/projects/:id/labels?per_page=5';
    await ask({ action: 'labels', method: 'DELETE', path, params: { id: 3, name: 'old' } });
    const [asked] = gitlab.asked;
    expect(asked).toMatchObject({ method: 'DELETE', path: '/api/v4/projects/3/labels' });
    expect(asked?.query.toString()).toBe('per_page=5&name=old');
  });
});

describe('AgentTask', () => {
  test('a task needs a type or a capability', async () => {
    await expect(run('AgentTask', { agent: 'assistant-1' })).rejects.toMatchObject({
      reason: 'bad_setting',
    });
  });

  test('what the mesh refuses keeps its reason', async () => {
    mesh = {
      executeTask: () =>
        Promise.reject(new Fault('not_found', 'no agent', { reason: 'agent_not_found' })),
    };
    await expect(run('AgentTask', { type: 'chat' })).rejects.toMatchObject({
      reason: 'agent_not_found',
    });
  });

  test('what an agent says that it used counts, and nonsense does not', async () => {
    const usedBy = async (result: unknown) => {
      mesh = {
        executeTask: async () => ({
          taskId: 'tsk_1',
          status: 'completed',
          executedBy: 'a',
          result,
          duration: 1,
        }),
      };
      const given = { name: 'AgentTask', data: { type: 'chat' } };
      const outcome = await runComponent(toolComponents(dependencies), given);
      return outcome.kind === 'done' ? outcome.usage : undefined;
    };
    const usage = { prompt_tokens: 1_000, completion_tokens: 500, cost: 0.002 };
    expect(await usedBy({ text: 'hi', model: 'm', usage })).toEqual({
      model: 'm',
      promptTokens: 1_000,
      completionTokens: 500,
      cost: 0.002,
    });
    const counted = { promptTokens: 3, completionTokens: -5, cost: 'much' };
    expect(await usedBy({ usage: counted })).toMatchObject({ promptTokens: 3, cost: 0 });
    expect(await usedBy({ usage: 'none' })).toBeUndefined();
    expect(await usedBy(null)).toBeUndefined();
  });

  test('the mesh gets the task with the node’s key', async () => {
    const asked: unknown[] = [];
    const answer = { taskId: 'tsk_1', executedBy: 'a', result: { text: 'hi' }, duration: 1 };
    mesh = {
      executeTask: async ({ body }, options) => {
        asked.push(body, options?.headers);
        return { ...answer, status: 'completed' };
      },
    };
    const settings = { agent: 'a', capability: 'chat', input: { prompt: 'hi' }, timeout: 700 };
    const { duration: _, ...output } = answer;
    expect(await run('AgentTask', { ...settings, priority: 'high' })).toEqual(output);
    const task = { type: 'chat', capability: 'chat', input: { prompt: 'hi' }, priority: 'high' };
    expect(asked).toEqual([
      { targetAgent: 'a', task: { ...task, timeout: 700 } },
      { 'idempotency-key': 'exe_1:node:' },
    ]);
    await run('AgentTask', settings, { attempt: 2, timeoutMs: 300 });
    expect(asked.slice(2)).toMatchObject([
      { task: { timeout: 700 } },
      { 'idempotency-key': 'exe_1:node::2' },
    ]);
  });
});

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createMcpHandler,
  McpServer,
  ResourceTemplate,
  Server,
} from '@modelcontextprotocol/server';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestTables } from '../kit/database/testing.ts';
import { TestClient as SocketClient } from '../kit/sockets/testing.ts';
import type { Route } from '../kit/contract.ts';
import { registryContract } from './contract.ts';
import { fromWeb, serve, type TestServer } from './links/testing.ts';
import { registry as service } from './service.ts';
import { startRegistry } from './testing.ts';

const memoryServer = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'),
);

let registry: Awaited<ReturnType<typeof startRegistry>>;
let server: TestServer;

beforeAll(async () => {
  server = await serve(fromWeb(echoServer()));
  registry = await startRegistry({ environment: { REGISTRY_STDIO_ALLOW: 'node' } });
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A server of one tool, that answers with what it was given. */
function echoServer(): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(() => {
    const mcp = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
    const properties = { text: { type: 'string' } };
    mcp.setRequestHandler('tools/list', () => ({
      tools: [
        {
          name: 'echo',
          description: 'Answers what it was given',
          inputSchema: { type: 'object', properties, required: ['text'] },
        },
      ],
    }));
    mcp.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: String(params.arguments?.['text']) }],
    }));
    return mcp;
  });
  return (request) => handler.fetch(request);
}

/** A server of one tool, one prompt and a resource for every patient. */
function recordsServer(): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'records', version: '1.0.0' });
    mcp.registerTool('count', {}, () => ({ content: [{ type: 'text', text: '3' }] }));
    mcp.registerPrompt('summarize', {}, () => ({
      messages: [{ role: 'user', content: { type: 'text', text: 'Summarize' } }],
    }));
    const patients = new ResourceTemplate('rec://patients/{id}', { list: undefined });
    mcp.registerResource('patients', patients, {}, ({ href }) => ({
      contents: [{ uri: href, text: 'well' }],
    }));
    return mcp;
  });
  return (request) => handler.fetch(request);
}

const unknownId = 'con_00000000000000000000000000000000';

/** The paths of routes with an id that nothing has. */
function pathOf({ url }: Route): string {
  return url.replaceAll(/:[A-Za-z]+/g, unknownId);
}

const routes = Object.entries<Route>(registryContract.routes);

describe('who may do what', () => {
  it.each(routes.filter(([, { auth }]) => auth === undefined))(
    'refuses anonymous callers: %s',
    async (_name, route) => {
      const response = await fetch(registry.url + pathOf(route), { method: route.method });
      expect(response.status).toBe(401);
    },
  );

  it.each(routes.filter(([, { permission }]) => permission !== undefined))(
    'refuses callers without the permission: %s',
    async (_name, route) => {
      const call = await registry.callAs('usr_reader', []);
      const { status, body } = await call(route.method, pathOf(route));
      expect({ status, code: body.error.code }).toMatchObject({ status: 403 });
    },
  );

  it('needs the permission to execute for approving a command', async () => {
    const call = await registry.callAs('usr_writer');
    const { status } = await call('POST', `/connections/${unknownId}/approve`, {});
    expect(status).toBe(403);
  });

  it('refuses a stream without a token', async () => {
    await expect(new SocketClient(`${registry.url}/registry/stream`).opened()).rejects.toThrow();
  });
});

describe('ids that no connection has', () => {
  it.each([
    ['GET', '/connections/:id', undefined],
    ['PATCH', '/connections/:id', { status: 'idle' }],
    ['DELETE', '/connections/:id', undefined],
    ['GET', '/connections/:id/history', undefined],
    ['POST', '/connections/:id/approve', {}],
    ['POST', '/connections/:id/health-check', undefined],
    ['POST', '/connections/:id/call', { tool: 'echo' }],
  ])('%s %s answers 404', async (method, path, sent) => {
    const call = await registry.callAs('usr_all', ['*']);
    const { status, body } = await call(method, path.replace(':id', unknownId), sent);
    expect(status).toBe(404);
    expect(body.error).toMatchObject({
      code: 'CONNECTION_NOT_FOUND',
      details: { connectionId: unknownId },
    });
  });
});

describe('the page that ends a login', () => {
  it.each(['', '?state=', '?state=made-up', '?error=access_denied'])(
    'tells people in words what is no answer to one: %s',
    async (query) => {
      const page = await fetch(`${registry.url}/oauth/callback${query}`);
      expect(page.status).toBe(400);
      expect(page.headers.get('content-type')).toContain('text/plain');
      expect(await page.text()).toMatch(/^It did not work: this login is unknown/);
    },
  );
});

describe('a connection', () => {
  it('is registered, checked, found, called over both doors, and disconnected', async () => {
    const call = await registry.callAs('usr_owner');
    const stream = await new SocketClient(`${registry.url}/registry/stream`, {
      headers: { authorization: `Bearer ${await registry.tokenOf('usr_watch', [])}` },
    }).opened();
    stream.send({ action: 'subscribe', ack: true, events: ['connection-status'] });
    expect(await stream.next()).toMatchObject({ type: 'subscribed' });

    const { status, body } = await call('POST', '/connections', {
      name: 'echo',
      type: 'server',
      protocol: 'http',
      endpoint: { url: server.url, headers: { 'x-token': 'very-secret' } },
      capabilities: ['declared'],
      metadata: { team: 'one' },
      healthCheck: { enabled: true, interval: 30, timeout: 5_000 },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'echo',
      status: 'active',
      connection: {
        id: body.id,
        type: 'server',
        protocol: 'http',
        capabilities: ['declared'],
        health: { status: 'initializing', lastCheck: null, uptime: 0, errorRate: 0 },
      },
    });
    expect(await stream.next()).toMatchObject({
      type: 'connection-status',
      connectionId: body.id,
      status: 'active',
    });
    const path = `/connections/${body.id}`;
    const read = async () => (await call('GET', path)).body;
    await expect
      .poll(async () => (await read()).capabilities.map(({ name }: { name: string }) => name))
      .toEqual(['declared', 'echo']);
    await expect.poll(async () => (await read()).health.status).toBe('healthy');
    const detail = await read();
    expect(detail).toMatchObject({
      endpoint: { url: server.url, headers: { 'x-token': '***' } },
      server: { name: 'echo', version: '1.0.0', era: 'modern' },
      ownerId: 'usr_owner',
    });
    expect(detail.capabilities[1].schema.required).toEqual(['text']);

    const found = await call('POST', '/connections/discover', { capabilities: ['echo'] });
    expect(found.body).toMatchObject({ totalMatching: 1, connections: [{ id: body.id }] });
    expect((await call('PATCH', path, { status: 'idle' })).body.status).toBe('idle');
    const called = await call('POST', `${path}/call`, { tool: 'echo', arguments: { text: 'hi' } });
    expect((await read()).status).toBe('active');
    expect(called.body).toMatchObject({ connectionId: body.id, result: 'hi', isError: false });
    expect(await callOverMcp('echo__echo', { text: 'again' })).toMatchObject({
      content: [{ type: 'text', text: 'again' }],
    });
    expect((await read()).metrics).toMatchObject({ totalRequests: 2, successRate: 1 });

    const ended = await call('DELETE', path);
    expect(ended.body).toMatchObject({ id: body.id, status: 'disconnected' });
    expect((await call('DELETE', path)).body).toEqual(ended.body);
    await expect.poll(() => stream.next()).toMatchObject({ status: 'disconnected' });
    const after = await call('POST', `${path}/call`, { tool: 'echo', arguments: { text: 'x' } });
    expect(after.status).toBe(409);
    const listed = await call('GET', '/connections?status=disconnected');
    expect(listed.body.connections.map(({ id }: { id: string }) => id)).toContain(body.id);
    expect(JSON.stringify([detail, listed.body, found.body])).not.toContain('very-secret');
    const history = await call('GET', `${path}/history`);
    const changes = history.body.changes.map(({ change }: { change: string }) => change);
    expect(changes).toEqual(expect.arrayContaining(['registered', 'health', 'disconnected']));
  });

  it('of a command that the operator does not allow registers and is never run', async () => {
    const call = await registry.callAs('usr_owner', ['registry:write', 'registry:execute']);
    const { status, body } = await call('POST', '/connections', {
      name: 'forbidden',
      type: 'server',
      protocol: 'stdio',
      endpoint: { command: 'sh', args: ['-c', 'true'] },
    });
    expect(status).toBe(201);
    const reason = async () => (await call('GET', `/connections/${body.id}`)).body.health.reason;
    await expect.poll(reason).toBe('command_not_allowed');
  });

  it('of a command runs when somebody who may execute has approved it', async () => {
    const call = await registry.callAs('usr_owner');
    const env = { API_KEY: 'very-secret', MODE: 'plain' };
    const { body } = await call('POST', '/connections', {
      name: 'memory',
      type: 'server',
      protocol: 'stdio',
      endpoint: { command: 'node', args: [memoryServer], env },
      healthCheck: { timeout: 20_000 },
    });
    const read = async () => (await call('GET', `/connections/${body.id}`)).body;
    await expect.poll(async () => (await read()).health.reason).toBe('approval_required');
    const may = await registry.callAs('usr_operator', ['registry:execute']);
    const approved = await may('POST', `/connections/${body.id}/approve`, {});
    expect(approved.body.approval).toMatchObject({ approved: true, approvedBy: 'usr_operator' });
    await expect.poll(async () => (await read()).health.status).toBe('healthy');
    expect((await read()).endpoint.env).toEqual({ API_KEY: '***', MODE: 'plain' });
    const checked = await call('POST', `/connections/${body.id}/health-check`);
    expect(checked.body.diagnostics).toMatchObject({ processRunning: true });
    await call('DELETE', `/connections/${body.id}`);
    expect((await call('GET', '/health')).body.registry).toMatchObject({ unhealthy: 1 });
  });

  it('is read by somebody without telling others what: only tools are capabilities', async () => {
    await using records = await serve(fromWeb(recordsServer()));
    const call = await registry.callAs('usr_owner');
    const reader = await registry.callAs('usr_reader', []);
    const stream = await new SocketClient(`${registry.url}/registry/stream`, {
      headers: { authorization: `Bearer ${await registry.tokenOf('usr_watch', [])}` },
    }).opened();
    stream.send({ action: 'subscribe', ack: true, events: ['capability-request'] });
    expect(await stream.next()).toMatchObject({ type: 'subscribed' });
    const endpoint = { url: records.url };
    const request = { name: 'records', type: 'server', protocol: 'http', endpoint };
    const { id } = (await call('POST', '/connections', request)).body;
    const read = async () => (await call('GET', `/connections/${id}`)).body;
    await expect.poll(async () => (await read()).offers?.resourceTemplates).toBe(1);
    await overMcp(async (client) => {
      await client.readResource({ uri: 'rec://patients/4711' });
      await client.getPrompt({ name: 'records__summarize' });
      await client.callTool({ name: 'records__count', arguments: {} });
    });
    expect(await stream.next()).toMatchObject({ connectionId: id, capability: 'count' });
    expect((await read()).metrics.totalRequests).toBe(3);
    const { mostUsed } = (await reader('GET', '/registry/stats')).body.capabilities;
    expect(mostUsed).toContainEqual({ name: 'count', requests: 1 });
    const names = mostUsed.map(({ name }: { name: string }) => name);
    const listed = (await reader('GET', '/capabilities')).body.capabilities;
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(names));
    await call('DELETE', `/connections/${id}`);
    stream.socket.close();
  });

  it('that fails its checks says so, and those of one page are counted like all', async () => {
    const call = await registry.callAs('usr_owner');
    const unreachable = { url: 'http://127.0.0.1:9/mcp' };
    for (const name of ['gone-1', 'gone-2', 'gone-3']) {
      const request = { name, type: 'server', protocol: 'http', endpoint: unreachable };
      expect((await call('POST', '/connections', request)).status).toBe(201);
    }
    const left = { name: 'left', type: 'server', protocol: 'http', endpoint: unreachable };
    const first = await call('POST', '/connections', { ...left, capabilities: ['go'] });
    const second = await call('POST', '/connections', { ...left, name: 'stays' });
    await call('DELETE', `/connections/${first.body.id}`);
    const { connections } = (await call('GET', '/connections')).body;
    const ids = connections.map(({ id }: { id: string }) => id);
    expect(ids.indexOf(second.body.id)).toBeLessThan(ids.indexOf(first.body.id));
    const detail = await call('GET', `/connections/${first.body.id}`);
    expect(detail.body.capabilities).toEqual([{ name: 'go', description: '', schema: {} }]);
    const page = await call('GET', '/connections?protocol=http&type=server&limit=1&offset=1');
    expect(page.body.connections).toHaveLength(1);
    expect(page.body.filtered).toBeGreaterThanOrEqual(3);
    expect(page.body.total).toBeGreaterThanOrEqual(page.body.filtered);
    const { id } = page.body.connections[0];
    const checked = await call('POST', `/connections/${id}/health-check`);
    expect(checked).toMatchObject({ status: 200, body: { connectionId: id } });
  });
});

describe('restart', () => {
  it('keeps connections, their state, what was learned, and their history', async () => {
    await using database = await openTestTables('registry', service.migrations);
    const request = {
      name: 'kept',
      type: 'server',
      protocol: 'http',
      endpoint: { url: server.url },
      metadata: { team: 'one' },
    };
    const { id } = await during({ database }, async (call) => {
      const { body } = await call('POST', '/connections', request);
      await expect
        .poll(async () => (await call('GET', `/connections/${body.id}`)).body.offers?.tools)
        .toBe(1);
      await call('POST', `/connections/${body.id}/call`, {
        tool: 'echo',
        arguments: { text: 'x' },
      });
      return body;
    });
    await during({ database }, async (call) => {
      const { body } = await call('GET', `/connections/${id}`);
      expect(body).toMatchObject({
        name: 'kept',
        status: 'active',
        metadata: { team: 'one' },
        offers: { tools: 1 },
        metrics: { totalRequests: 1 },
      });
      expect((await call('POST', '/connections', request)).status).toBe(409);
      expect((await call('GET', `/connections/${id}/history`)).body.total).toBeGreaterThan(0);
    });
  });
});

type Call = Awaited<ReturnType<typeof registry.callAs>>;

/** Runs a registry on these tables for as long as the work takes. */
async function during<T>(
  options: Parameters<typeof startRegistry>[0],
  work: (call: Call) => Promise<T>,
): Promise<T> {
  await using other = await startRegistry(options);
  return await work(await other.callAs('usr_owner'));
}

function callOverMcp(name: string, input: Record<string, unknown>) {
  return overMcp((client) => client.callTool({ name, arguments: input }));
}

async function overMcp<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const token = await registry.tokenOf('usr_owner');
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', registry.url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  const answer = await work(client);
  await client.close();
  return answer;
}

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import type { Connection } from '../connections/connection.ts';
import type { ExchangeOptions, Link, Offer } from '../links/link.ts';
import { aConnection, emptyOffer, openAggregate } from './testing.ts';
import { VirtualServers } from './virtual-servers.ts';

type Ground = Awaited<ReturnType<typeof openAggregate>>;

const aTool = (name: string, description = `The tool ${name}.`) => ({
  name,
  description,
  inputSchema: { type: 'object' as const },
});

const filesOffer: Offer = {
  tools: [aTool('read', 'Read a file of this disk.'), aTool('_write', 'Write a file.')],
  prompts: [{ name: 'review', arguments: [{ name: 'path' }] }],
  resources: [{ uri: 'note://all', name: 'all notes' }],
  resourceTemplates: [{ uriTemplate: 'note://{id}/text', name: 'one note' }],
};
const notesOffer: Offer = {
  ...emptyOffer,
  tools: [aTool('read', 'Read a note.')],
  resources: [
    { uri: 'note://all', name: 'all notes, too' },
    { uri: 'note://own', name: 'own notes' },
  ],
};

let ground: Ground;
let files: Connection;
let notes: Connection;
let exchanges: { readonly id: string; readonly what: string; readonly options: ExchangeOptions }[];
let onCall: (options: ExchangeOptions) => Promise<void>;
const clients: Client[] = [];

beforeAll(async () => {
  ground = await openAggregate({ open: async (id) => testLink(id) });
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => {
  exchanges = [];
  onCall = async () => {};
  for (const connection of ground.directory.all()) put(connection, { status: 'disconnected' });
  files = add({ name: 'files', offer: filesOffer });
  notes = add({ name: 'my.notes', status: 'idle', offer: notesOffer });
  add({ name: 'failed', status: 'error', offer: filesOffer });
  add({ name: 'cursor', type: 'client', offer: filesOffer });
  add({ name: 'unasked', offer: emptyOffer });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function testLink(id: string): Link {
  const answer = async (what: string, options: ExchangeOptions = {}) => {
    exchanges.push({ id, what, options });
    await onCall(options);
    return what;
  };
  const link: Partial<Link> = {
    callTool: async (name, input, options) => ({
      content: [{ type: 'text', text: await answer(`${name} ${JSON.stringify(input)}`, options) }],
    }),
    getPrompt: async (name, input, options) => ({
      description: await answer(`${name} ${JSON.stringify(input)}`, options),
      messages: [],
    }),
    readResource: async (uri, options) => ({
      contents: [{ uri, text: await answer(uri, options) }],
    }),
    complete: async ({ ref }, options) => ({
      completion: { values: [await answer(JSON.stringify(ref), options)] },
    }),
  };
  return link as Link;
}

type Added = Parameters<typeof aConnection>[0];

function add(fields: Added): Connection {
  const connection = aConnection(fields);
  ground.directory.put(connection);
  return connection;
}

function put(connection: Connection, changes: Partial<Connection>): void {
  // One of the two shapes stays what it is.
  ground.directory.put(aConnection({ ...connection, ...changes } as Connection));
}

async function connect(path = '/mcp', mode: 'auto' | 'legacy' = 'auto', held = ['registry:call']) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const authorization = `Bearer ${await ground.token(held)}`;
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${ground.address}${path}`), {
      requestInit: { headers: { authorization } },
    }),
  );
  clients.push(client);
  return client;
}

async function send(method: string, path: string, body?: unknown, held = ['registry:write']) {
  const response = await fetch(`${ground.address}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${await ground.token(held)}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const namesOf = (listed: readonly { readonly name: string }[]) => listed.map(({ name }) => name);

describe.each(['auto', 'legacy'] as const)('the aggregated server, spoken to as %s', (mode) => {
  test('who may not call may list, and is told in words what is missing', async () => {
    const client = await connect('/mcp', mode, []);
    expect((await client.listTools()).tools).toHaveLength(3);
    expect(await client.callTool({ name: 'files__read' })).toMatchObject({
      isError: true,
      content: [{ text: 'this needs the permission registry:call or agent:execute' }],
    });
    await expect(client.readResource({ uri: 'note://all' })).rejects.toMatchObject({
      code: -32_000,
      data: { code: 'INSUFFICIENT_PERMISSIONS' },
    });
    await expect(client.getPrompt({ name: 'files__review' })).rejects.toThrow('registry:call');
    expect(exchanges).toEqual([]);
  });

  test('lists active and idle servers in the order of their registration, asking none', async () => {
    const client = await connect('/mcp', mode);
    const { tools } = await client.listTools();
    expect(namesOf(tools)).toEqual(['files__read', 'files___write', 'my.notes__read']);
    expect(namesOf((await client.listPrompts()).prompts)).toEqual(['files__review']);
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([
      {
        uri: 'note://all',
        name: 'all notes',
        _meta: { 'ennead.registry/also-offered-by': ['my.notes'] },
      },
      { uri: 'note://own' },
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'note://{id}/text' }]);
    expect(exchanges).toEqual([]);
  });

  test('asks the one server under its own name', async () => {
    const client = await connect('/mcp', mode);
    const called = await client.callTool({ name: 'files___write', arguments: { a: 1 } });
    expect(called.content).toMatchObject([{ text: '_write {"a":1}' }]);
    const prompt = await client.getPrompt({ name: 'files__review', arguments: { path: 'x' } });
    expect(prompt.description).toBe('review {"path":"x"}');
    await client.readResource({ uri: 'note://all' });
    await client.readResource({ uri: 'note://own' });
    await client.readResource({ uri: 'note://7/text' });
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'files__review' },
      argument: { name: 'path', value: '' },
    });
    expect(completed.completion.values).toEqual(['{"type":"ref/prompt","name":"review"}']);
    expect(exchanges.map(({ id }) => id)).toEqual(
      [files, files, files, notes, files, files].map(({ id }) => id),
    );
  });

  test.each(['files__nothing', 'nobody__read', 'failed__read', 'cursor__read', 'read', '__read'])(
    'an unknown tool is an error of the protocol: %s',
    async (name) => {
      const client = await connect('/mcp', mode);
      await expect(client.callTool({ name })).rejects.toMatchObject({ code: -32_602 });
    },
  );

  test('an unknown prompt, resource or reference is an error of the protocol', async () => {
    const client = await connect('/mcp', mode);
    await expect(client.getPrompt({ name: 'files__no' })).rejects.toMatchObject({ code: -32_602 });
    await expect(client.readResource({ uri: 'note://no' })).rejects.toMatchObject({
      code: -32_602,
    });
    const ref = { type: 'ref/prompt', name: 'files__no' } as const;
    const argument = { name: 'path', value: '' };
    await expect(client.complete({ ref, argument })).rejects.toMatchObject({ code: -32_602 });
  });

  test('what a server refuses arrives with the server’s own code, words and data', async () => {
    onCall = async () => {
      const detail = { code: -32_050, message: 'sign in first', data: { where: 'there' } };
      throw new Fault('upstream', 'sign in first', { reason: 'server_error', detail });
    };
    const client = await connect('/mcp', mode);
    const refusal = { message: expect.stringContaining('sign in first'), data: { where: 'there' } };
    await expect(client.readResource({ uri: 'note://all' })).rejects.toMatchObject(refusal);
    await expect(client.callTool({ name: 'files__read' })).rejects.toMatchObject(refusal);
  });

  test('progress and cancellation pass through', async () => {
    const client = await connect('/mcp', mode);
    onCall = async ({ onProgress }) => onProgress?.({ progress: 1, total: 2, message: 'half' });
    const seen: unknown[] = [];
    const onprogress = (progress: unknown) => seen.push(progress);
    await client.callTool({ name: 'files__read' }, { onprogress });
    expect(seen).toMatchObject([{ progress: 1, total: 2, message: 'half' }]);
    const leaving = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      onCall = ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            reject(new Fault('cancelled', 'given up'));
            resolve();
          });
          leaving.abort();
        });
    });
    await expect(
      client.callTool({ name: 'files__read' }, { signal: leaving.signal }),
    ).rejects.toThrow();
    await aborted;
  });

  test('the trace of the message goes on at the server', async () => {
    const client = await connect('/mcp', mode);
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const meta = { traceparent, tracestate: 'rojo=00f067aa0ba902b7' };
    await client.callTool({ name: 'files__read', _meta: meta });
    const [exchange] = exchanges;
    expect(exchange?.options.traceparent).toContain(traceId);
    expect(exchange?.options.traceparent).not.toContain('00f067aa0ba902b7');
    expect(exchange?.options.tracestate).toBe('rojo=00f067aa0ba902b7');
  });
});

test('a tool in quarantine is neither listed nor called', async () => {
  put(files, { quarantined: ['read'] });
  const client = await connect();
  expect(namesOf((await client.listTools()).tools)).not.toContain('files__read');
  await expect(client.callTool({ name: 'files__read' })).rejects.toMatchObject({ code: -32_602 });
});

test('those who listen are told when servers come, go and change; others may keep lists', async () => {
  const client = await connect();
  expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
  let told = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void (told += 1));
  const subscription = await client.listen({ toolsListChanged: true });
  put(files, { lastActiveAtMs: 7 });
  put(files, { status: 'error' });
  await expect.poll(() => told).toBeGreaterThanOrEqual(1);
  expect(namesOf((await client.listTools()).tools)).toEqual(['my.notes__read']);
  await subscription.close();
});

describe('virtual servers', () => {
  const picked = {
    name: 'reader',
    description: 'Reads.',
    tools: ['my.notes__read', { connection: 'files', tool: 'read', as: 'read' }, 'nobody__read'],
    prompts: [{ connection: 'files', prompt: '*', as: '*' }],
    resources: ['files'],
  };

  afterEach(async () => {
    const { body } = await send('GET', '/virtual-servers?limit=100');
    for (const { id } of body['virtualServers'] as { id: string }[]) {
      await send('DELETE', `/virtual-servers/${id}`);
    }
  });

  test('are made, replaced and deleted only with registry:write', async () => {
    expect((await send('POST', '/virtual-servers', picked, ['registry:call'])).status).toBe(403);
    expect((await send('PUT', '/virtual-servers/x', picked, [])).status).toBe(403);
    expect((await send('DELETE', '/virtual-servers/x', undefined, [])).status).toBe(403);
  });

  test.each([
    [{ ...picked, tools: ['read'] }, 400],
    [{ ...picked, name: 'vsr_1' }, 400],
    [{ ...picked, name: 'a/b' }, 400],
    [{ ...picked, resources: ['half \ud800'] }, 400],
    [{ ...picked, tools: [1, 2].map(() => ({ connection: 'files', tool: 'read', as: 'r' })) }, 400],
  ])('are refused where they are unclear: %j', async (body, status) => {
    expect((await send('POST', '/virtual-servers', body)).status).toBe(status);
  });

  test('have what was picked, under the names that were given', async () => {
    const made = await send('POST', '/virtual-servers', picked);
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'reader',
        lean: false,
        url: 'http://registry.test/mcp/reader',
        offers: {
          tools: ['my.notes__read', 'read'],
          prompts: ['review'],
          resources: ['note://all', 'note://{id}/text'],
        },
        missing: ['nobody__read'],
        createdBy: 'usr_test',
      },
    });
    expect((await send('POST', '/virtual-servers', picked)).body).toMatchObject({
      error: { code: 'NAME_TAKEN' },
    });
    const id = String(made.body['id']);
    expect((await send('GET', `/virtual-servers/${id}`, undefined, [])).body).toEqual(made.body);
    expect((await send('GET', '/virtual-servers/reader', undefined, [])).body).toEqual(made.body);

    const client = await connect('/mcp/reader', 'legacy');
    expect(client.getServerVersion()).toMatchObject({ name: 'reader' });
    expect(namesOf((await client.listTools()).tools)).toEqual(['my.notes__read', 'read']);
    await client.callTool({ name: 'read' });
    expect(exchanges).toMatchObject([{ id: files.id, what: 'read {}' }]);
    await expect(client.callTool({ name: 'files___write' })).rejects.toThrow();
    expect((await client.getPrompt({ name: 'review' })).description).toBe('review {}');
    expect((await client.readResource({ uri: 'note://9/text' })).contents).toHaveLength(1);
    await expect(client.readResource({ uri: 'note://own' })).rejects.toThrow();
  });

  test('name what a pick before it keeps from being reached', async () => {
    const all = (connection: string, as: string) => ({ connection, tool: '*', as });
    const both = { ...picked, tools: [all('files', '*'), all('my.notes', '*')], prompts: [] };
    const { body } = await send('POST', '/virtual-servers', both);
    expect(body).toMatchObject({ missing: ['my.notes__read'] });
    const one = { ...both, tools: [all('files', 'one'), 'files__read'] };
    const replaced = await send('PUT', '/virtual-servers/reader', one);
    expect(replaced.body).toMatchObject({ offers: { tools: ['one', 'files__read'] } });
    expect(replaced.body['missing']).toHaveLength(filesOffer.tools.length - 1);
  });

  test('are replaced at once, told to listeners, and gone when deleted', async () => {
    const { body } = await send('POST', '/virtual-servers', picked);
    const client = await connect(`/mcp/${String(body['id'])}`);
    let told = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void (told += 1));
    await client.listen({ toolsListChanged: true });
    const all = { ...picked, tools: ['files__*'], prompts: [], resources: [] };
    expect((await send('PUT', '/virtual-servers/reader', all)).status).toBe(200);
    await expect.poll(() => told).toBeGreaterThanOrEqual(1);
    expect(namesOf((await client.listTools()).tools)).toEqual(['files__read', 'files___write']);
    expect((await send('DELETE', '/virtual-servers/reader')).body).toMatchObject({
      id: body['id'],
      status: 'deleted',
    });
    await expect(connect('/mcp/reader')).rejects.toThrow();
    expect((await send('GET', '/virtual-servers/reader')).status).toBe(404);
  });

  test('are known to every replica, and after a restart', async () => {
    await using replica = new VirtualServers(ground.parts);
    await replica.start();
    await send('POST', '/virtual-servers', picked);
    await expect.poll(() => replica.find('reader')?.name).toBe('reader');
    await using restarted = new VirtualServers(ground.parts);
    await restarted.start();
    expect(restarted.all()).toEqual(replica.all());
    await send('DELETE', '/virtual-servers/reader');
    await expect.poll(() => replica.find('reader')).toBeUndefined();
    expect(silentLog.level).toBe('silent');
  });

  test('can be lean by themselves', async () => {
    await send('POST', '/virtual-servers', { ...picked, lean: true });
    const client = await connect('/mcp/reader');
    expect((await client.listTools()).tools).toHaveLength(3);
    const found = await client.callTool({
      name: 'registry_search',
      arguments: { query: 'write a file' },
    });
    expect(found.structuredContent).toMatchObject({ tools: [{ name: 'read' }, {}], total: 2 });
  });
});

describe('lean mode', () => {
  test('finds, describes and calls every tool through three', async () => {
    const client = await connect('/mcp?mode=lean');
    expect(namesOf((await client.listTools()).tools)).toEqual([
      'registry_search',
      'registry_describe',
      'registry_call',
    ]);
    const search = async (query: string) =>
      (await client.callTool({ name: 'registry_search', arguments: { query } })).structuredContent;
    expect(await search('reading notes')).toMatchObject({
      tools: [{ name: 'my.notes__read', description: 'Read a note.' }],
      total: 3,
    });
    expect(await search('Files to WRITE')).toMatchObject({
      tools: [{ name: 'files___write' }, {}],
    });
    expect(await search('fly')).toMatchObject({ tools: [] });
    const described = await client.callTool({
      name: 'registry_describe',
      arguments: { names: ['files__read', 'no'] },
    });
    expect(described.structuredContent).toMatchObject({
      tools: [{ name: 'files__read', inputSchema: { type: 'object' } }],
      unknown: ['no'],
    });
    const called = await client.callTool({
      name: 'registry_call',
      arguments: { name: 'files__read', arguments: { a: 1 } },
    });
    expect(called.content).toMatchObject([{ text: 'read {"a":1}' }]);
    expect(
      await client.callTool({ name: 'registry_call', arguments: { name: 'no' } }),
    ).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'no' })).rejects.toMatchObject({ code: -32_602 });
  });

  test('finds what comes later, and no more what has gone', async () => {
    const client = await connect('/mcp?mode=lean');
    const search = async () => {
      const found = await client.callTool({
        name: 'registry_search',
        arguments: { query: 'teleport' },
      });
      return found.structuredContent;
    };
    expect(await search()).toMatchObject({ tools: [] });
    const late = add({ name: 'late', offer: { ...emptyOffer, tools: [aTool('teleport')] } });
    expect(await search()).toMatchObject({ tools: [{ name: 'late__teleport' }] });
    put(late, { status: 'disconnected' });
    expect(await search()).toMatchObject({ tools: [] });
  });
});

test('a name that clients would refuse is listed under a safe one, which calls the tool', async () => {
  const long = 'x'.repeat(200);
  add({ name: 'odd', offer: { ...emptyOffer, tools: [aTool('do it — now'), aTool(long)] } });
  const client = await connect();
  const { tools } = await client.listTools();
  const odd = tools.filter(({ name }) => name.startsWith('odd__'));
  expect(odd.map(({ title }) => title)).toEqual(['do it — now', long]);
  for (const { name, title } of odd) {
    expect(name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
    expect(await client.callTool({ name })).toMatchObject({ content: [{ text: `${title} {}` }] });
  }
});

import { beforeEach, describe, expect, test } from 'vitest';
import { registryUrl, useExchangeGround } from './exchange-testing.ts';
import { cmsKey, MemoryConnections } from './testing.ts';

const ground = useExchangeGround();

describe('an export', () => {
  const secret = 'very-secret-value';

  beforeEach(async () => {
    const headers = { Authorization: `Bearer ${secret}` };
    const env = { API_KEY: secret, REGION: 'north' };
    const schema = { type: 'object' };
    await ground.connections.add({
      name: 'remote',
      endpoint: { url: `https://remote.test/mcp?token=${secret}&lang=en`, headers },
      capabilities: [{ name: 'find', description: 'Finds', schema }, { name: 'keep' }],
      metadata: { team: 'sea' },
    });
    const endpoint = { command: 'serve', args: ['--token', secret, '--port=1'], env };
    await ground.connections.add({ name: 'local', protocol: 'stdio', endpoint });
    await ground.connections.add({
      name: 'socket',
      protocol: 'websocket',
      endpoint: { url: 'wss://a.test/' },
    });
    await ground.connections.add({ name: 'editor', type: 'client', endpoint: { url: '' } });
    await ground.connections.disconnect((await ground.connections.add({ name: 'gone' })).id);
  });

  test('has the fields of the interface, and no secret', async () => {
    const { status, body } = await ground.ask('GET', '/registry/export', {
      claims: { permissions: [] },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ version: '1.0', totalExported: 4 });
    expect(new Date(body.exportedAt).toISOString()).toBe(body.exportedAt);
    expect(body.connections[0]).toMatchObject({
      name: 'remote',
      type: 'server',
      protocol: 'http',
      endpoint: { url: 'https://remote.test/mcp?token=${TOKEN}&lang=en' },
      capabilities: ['find', 'keep'],
      needs: ['Authorization'],
    });
    expect(body.connections[1]).toMatchObject({
      endpoint: {
        command: 'serve',
        args: ['--token', '${TOKEN}', '--port=1'],
        env: { REGION: 'north' },
      },
      needs: ['API_KEY'],
    });
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  test('imported elsewhere gives the same connections, with the secrets that are given', async () => {
    const { body: document } = await ground.ask('GET', '/registry/export');
    const before = ground.connections;
    ground.connections = new MemoryConnections();
    const inputs = {
      TOKEN: secret,
      REMOTE_AUTHORIZATION: `Bearer ${secret}`,
      LOCAL_API_KEY: secret,
    };
    const { body } = await ground.load(document, { inputs });
    expect(body).toMatchObject({ format: 'ennead', skipped: [], errors: [] });
    for (const name of ['remote', 'local', 'socket', 'editor']) {
      const { type, protocol, endpoint, declared, metadata, healthCheck } = before.get(name);
      const same = { type, protocol, endpoint, declared, metadata, healthCheck };
      expect(ground.connections.get(name)).toMatchObject(same);
    }
  });

  test.each([
    ['claude', '${REMOTE_AUTHORIZATION}', '${LOCAL_API_KEY}'],
    ['mcp.json', '${REMOTE_AUTHORIZATION}', '${LOCAL_API_KEY}'],
    ['cursor', '${env:REMOTE_AUTHORIZATION}', '${env:LOCAL_API_KEY}'],
    ['vscode', '${input:REMOTE_AUTHORIZATION}', '${input:LOCAL_API_KEY}'],
  ])('for %s is that client’s file, and can be imported too', async (format, header, key) => {
    const { body } = await ground.ask('GET', `/registry/export?format=${format}`);
    const servers = format === 'vscode' ? body.servers : body.mcpServers;
    expect(Object.keys(servers)).toEqual(['remote', 'local']);
    expect(servers.remote).toMatchObject({ type: 'http', headers: { Authorization: header } });
    expect(servers.local).toMatchObject({
      command: 'serve',
      env: { API_KEY: key, REGION: 'north' },
    });
    expect(JSON.stringify(body)).not.toContain(secret);
    if (format === 'vscode') {
      const ids = body.inputs.map(({ id }: { id: string }) => id).toSorted();
      expect(ids).toEqual(['LOCAL_API_KEY', 'REMOTE_AUTHORIZATION', 'TOKEN']);
    }
    ground.connections = new MemoryConnections();
    const loaded = await ground.load(body, { inputs: { TOKEN: secret } });
    expect(loaded.body.imported).toMatchObject([
      { name: 'remote', needs: ['REMOTE_AUTHORIZATION'] },
      { name: 'local', needs: ['LOCAL_API_KEY'] },
    ]);
  });

  test('by way of the registry names one server: its own endpoint', async () => {
    const { body } = await ground.ask('GET', '/registry/export?format=claude&via=registry');
    expect(body).toEqual({
      mcpServers: {
        ennead: {
          type: 'http',
          url: `${registryUrl}/mcp`,
          headers: { Authorization: 'Bearer ${ENNEAD_TOKEN}' },
        },
      },
    });
    const plain = await ground.ask('GET', '/registry/export?via=registry');
    expect(plain.body).toMatchObject({
      connections: [{ name: 'ennead', endpoint: { url: `${registryUrl}/mcp` } }],
      totalExported: 1,
    });
  });
});

test('a sync over the interface answers what it did, and is listed', async () => {
  await ground.connections.add({ name: 'weather' });
  const elsewhere = { cmsEndpoint: 'https://cms.test', apiKey: 'k' };
  const refused = await ground.ask('POST', '/cms/sync', { body: elsewhere });
  expect(refused).toMatchObject({ status: 403, body: { error: { code: 'CMS_NOT_ALLOWED' } } });
  const body = { cmsEndpoint: ground.cms.url, apiKey: cmsKey, syncMode: 'bidirectional' };
  const { status, body: done } = await ground.ask('POST', '/cms/sync', { body });
  expect(status).toBe(200);
  const counts = { direction: 'bidirectional', created: 1, updated: 0, removed: 0 };
  expect(done).toMatchObject({ ...counts, conflicts: [], errors: [], dryRun: false });
  const { body: past } = await ground.ask('GET', '/cms/syncs');
  const { syncId } = done;
  const entry = { syncId, cmsEndpoint: ground.cms.url, status: 'done', created: 1, errors: 0 };
  expect(past).toMatchObject({ syncs: [entry], total: 1, limit: 20, offset: 0 });
  expect(JSON.stringify(past)).not.toContain(cmsKey);
});

import { describe, expect, test } from 'vitest';
import { putRecord, useSyncGround } from './sync-testing.ts';
import { send } from '../testing.ts';

const ground = useSyncGround();

describe('what a CMS says', () => {
  const attributes = {
    title: 'Drupal Server',
    field_description: { value: 'by fields', format: 'plain' },
    field_endpoint: { uri: 'http://127.0.0.1:9/drupal' },
    field_transport: 'streamable-http',
  };
  test.each<[string, (records: unknown) => unknown, Record<string, unknown>]>([
    [
      'a bare list',
      (records) => records,
      { name: 'Drupal Server', url: 'http://127.0.0.1:9/drupal', description: 'by fields' },
    ],
    [
      'servers',
      (servers) => ({ servers }),
      {
        label: 'Drupal Server',
        endpoint: '{"url":"http://127.0.0.1:9/drupal"}',
        description: 'by fields',
        transport: 'sse',
      },
    ],
    [
      'JSON:API',
      (data) => ({ data, jsonapi: { version: '1.1' } }),
      { type: 'node--mcp', attributes },
    ],
  ])('is understood as %s', async (_, wrap, record) => {
    ground.cms.wrap = wrap;
    ground.cms.records.set('d-1', { id: 'd-1', ...record });
    expect(await ground.sync({ syncMode: 'pull' })).toMatchObject({ created: 1, errors: [] });
    expect(ground.connections.get('Drupal-Server')).toMatchObject({
      protocol: 'http',
      endpoint: { url: 'http://127.0.0.1:9/drupal' },
      metadata: { description: 'by fields' },
    });
  });

  test('is read page by page', async () => {
    for (let index = 1; index <= 25; index++) putRecord(ground.cms, `a${index}`);
    ground.cms.pageSize = 10;
    expect(await ground.sync()).toMatchObject({ created: 25, errors: [] });
  });

  test('is not read again while its tag stays the same', async () => {
    ground.cms.hasTags = true;
    putRecord(ground.cms, 'a1');
    const pull = { syncMode: 'pull' } as const;
    await ground.sync(pull);
    const statuses: unknown[] = [];
    ground.cms.spoil = ({ method, path, headers }) => {
      if (method === 'GET' && path.endsWith('/servers')) statuses.push(headers['if-none-match']);
      return undefined;
    };
    expect(await ground.sync(pull)).toMatchObject({ created: 0, updated: 0, removed: 0 });
    putRecord(ground.cms, 'a1', { description: 'changed' });
    expect(await ground.sync(pull)).toMatchObject({ updated: 1 });
    expect(statuses).toEqual([expect.any(String), expect.any(String)]);
    expect(ground.connections.get('server-a1').metadata).toEqual({ description: 'changed' });
  });

  test('of commands makes connections in the name of one who may run none', async () => {
    putRecord(ground.cms, 'a1', { url: undefined, command: 'rm', args: ['-rf', '/'] });
    await ground.sync({ syncMode: 'pull' });
    const { id, protocol } = ground.connections.get('server-a1');
    expect(protocol).toBe('stdio');
    expect(ground.connections.authors.get(id)).toMatchObject({
      subject: 'usr_operator',
      permissions: ['registry:write'],
    });
  });

  test('of bundles is kept in the metadata of their servers', async () => {
    putRecord(ground.cms, 'a1');
    putRecord(ground.cms, 'a2');
    ground.cms.bundles = [
      { id: 'b1', name: 'sea', servers: ['a1', { id: 'a2' }] },
      { id: 'b2', attributes: { title: 'moon', servers: ['server-a1'] } },
    ];
    await ground.sync({ syncMode: 'pull' });
    expect(ground.connections.get('server-a2').metadata).toEqual({ bundles: ['sea'] });
    ground.cms.bundles = [];
    expect(await ground.sync({ syncMode: 'pull' })).toMatchObject({ updated: 2 });
    expect(ground.connections.get('server-a2').metadata).toEqual({});
  });

  test('that names no endpoint, or no usable id, is told as an error each', async () => {
    ground.cms.records.set('a1', { id: 'a1', name: 'nothing to call' });
    ground.cms.records.set('bad', { id: '../../etc', name: 'odd' });
    ground.cms.records.set('a2', { id: 'a2', name: 'full', url: 'http://127.0.0.1:9/' });
    const result = await ground.sync();
    expect(result).toMatchObject({ created: 1 });
    expect(result.errors.map(({ stage, code }) => `${stage} ${code}`).toSorted()).toEqual([
      'create invalid',
      'list upstream',
    ]);
  });
});

describe('beside the records', () => {
  test('the health of what is linked is told to the CMS, which need not care', async () => {
    await ground.connections.add({ name: 'weather' });
    const { syncId } = await ground.sync();
    const { id } = ground.connections.get('weather');
    const server = {
      id: 'r1',
      connectionId: id,
      name: 'weather',
      status: 'active',
      health: 'healthy',
    };
    expect(ground.cms.healths).toMatchObject([{ syncId, servers: [server] }]);
    ground.cms.spoil = ({ path }) =>
      path.endsWith('/health') ? (response) => send(response, 404, {}) : undefined;
    expect(await ground.sync()).toMatchObject({ errors: [] });
  });

  test('each change has a key of its own under which it may be repeated', async () => {
    await ground.connections.add({ name: 'one' });
    await ground.connections.add({ name: 'two' });
    let failed = 0;
    ground.cms.spoil = ({ method }) =>
      method === 'POST' && failed++ < 1 ? (response) => send(response, 503, {}) : undefined;
    const { syncId, created, errors } = await ground.sync();
    expect({ created, errors }).toEqual({ created: 2, errors: [] });
    const keys = ground.cms.writes().map(({ headers }) => String(headers['idempotency-key']));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(2);
    expect(keys.every((key) => key.startsWith(syncId))).toBe(true);
  });

  test('two syncs with one CMS at a time: the second is refused, on every replica', async () => {
    const other = ground.openSyncs();
    let release = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      ground.cms.spoil = ({ path }) => {
        if (!path.endsWith('/servers')) return undefined;
        resolve();
        return (response) => {
          release = () => send(response, 200, { data: [] });
        };
      };
    });
    const first = ground.sync();
    await arrived;
    const busy = { code: 'conflict', reason: 'sync_running' };
    await expect(ground.sync({}, other)).rejects.toMatchObject(busy);
    release();
    await expect(first).resolves.toMatchObject({ errors: [] });
    ground.cms.spoil = () => undefined;
    await expect(ground.sync({}, other)).resolves.toMatchObject({ errors: [] });
  });

  test('past syncs are listed, the newest first', async () => {
    await ground.connections.add({ name: 'weather' });
    const { syncId } = await ground.sync();
    const { syncId: second } = await ground.sync({ dryRun: true });
    const { syncs: past, total } = await ground.syncs.list({ limit: 2, offset: 0 });
    expect(past).toMatchObject([
      { syncId: second, isDryRun: true, status: 'done', result: { created: 0 } },
      { syncId, isDryRun: false, status: 'done', result: { created: 1 } },
    ]);
    expect(await ground.syncs.list({ limit: 5, offset: total })).toEqual({ syncs: [], total });
  });
});

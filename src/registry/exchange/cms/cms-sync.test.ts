import { describe, expect, test } from 'vitest';
import { createEgress } from '../../../kit/egress/egress.ts';
import { silentLog } from '../../../kit/testing.ts';
import { CmsSyncs } from './cms-sync.ts';
import { putRecord, useSyncGround } from './sync-testing.ts';
import { cmsKey, send, startCms } from '../testing.ts';

const ground = useSyncGround();

describe('what may be called', () => {
  test.each([
    'https://other.example.com/site',
    'https://cms.example.com.evil.test/',
    'http://cms.example.com/',
    'https://cms.example.com:8443/',
  ])('a sync with %s is refused, for the operator has not listed it', async (cmsEndpoint) => {
    const refusal = { code: 'forbidden', reason: 'cms_not_allowed' };
    await expect(ground.sync({ cmsEndpoint })).rejects.toMatchObject(refusal);
  });

  test('the path counts by whole parts, and no escaped slash or step up leads out of it', async () => {
    for (const path of ['ter', '/../other', '/%2e%2e/other', '-b/x']) {
      const refusal = { reason: 'cms_not_allowed' };
      await expect(ground.sync({ cmsEndpoint: ground.cms.url + path })).rejects.toMatchObject(
        refusal,
      );
    }
    for (const path of ['/..%2fother', '/a%5c..', '?a=b', '#a', '//a']) {
      const refusal = { code: 'invalid' };
      await expect(ground.sync({ cmsEndpoint: ground.cms.url + path })).rejects.toMatchObject(
        refusal,
      );
    }
    expect(ground.cms.requests).toEqual([]);
  });

  test('the guard for outgoing calls stands above the list', async () => {
    const strict = createEgress({ allow: [], isLoopbackAllowed: false });
    ground.lifetime.own('strict egress', strict);
    const guarded = new CmsSyncs({
      sql: ground.database,
      egress: strict,
      directory: ground.connections,
      registrar: ground.connections,
      allowList: ground.cms.url,
      log: silentLog,
    });
    await expect(ground.sync({}, guarded)).rejects.toMatchObject({ reason: 'egress_blocked' });
  });
});

describe('a CMS that fails', () => {
  test.each([
    ['answers 500', 500, { code: 'upstream', reason: 'cms_refused' }],
    ['refuses the key', 403, { code: 'upstream', reason: 'cms_refused_key' }],
  ])('and %s makes the sync fail, and changes nothing', async (_, status, fault) => {
    await ground.connections.add({ name: 'weather' });
    ground.cms.spoil = () => (response) => send(response, status, {});
    await expect(ground.sync()).rejects.toMatchObject(fault);
    expect(ground.cms.writes()).toEqual([]);
    const { syncs: past } = await ground.syncs.list({ limit: 1, offset: 0 });
    expect(past).toMatchObject([
      { status: 'failed', cms: ground.cms.url, startedBy: 'usr_operator' },
    ]);
  });

  test('with what is no JSON, or JSON without a list, is not believed to be empty', async () => {
    await ground.connections.add({ name: 'weather' });
    for (const body of ['<html>', '{"message":"hello"}', '7', 'null']) {
      ground.cms.spoil = () => (response) => void response.end(body);
      await expect(ground.sync()).rejects.toMatchObject({ code: 'upstream' });
    }
    expect(ground.cms.writes()).toEqual([]);
  });

  test('by never answering, or with far too much, ends within its bounds', async () => {
    ground.cms.spoil = () => () => {};
    await expect(ground.sync()).rejects.toMatchObject({ code: 'deadline' });
    ground.cms.spoil = () => (response) => void response.end(Buffer.alloc(5 * 1024 * 1024, ' '));
    const tooLarge = { code: 'upstream', reason: 'response_too_large' };
    await expect(ground.sync()).rejects.toMatchObject(tooLarge);
  });

  test('with a redirect or a next page elsewhere does not get the key sent there', async () => {
    await using thief = await startCms();
    ground.cms.spoil = () => (response) => {
      response.writeHead(307, { location: `${thief.url}/api/mcp/servers` }).end();
    };
    await expect(ground.sync()).rejects.toMatchObject({ reason: 'redirect_refused' });
    const next = `${thief.url}/api/mcp/servers?page=2`;
    ground.cms.spoil = ({ path }) =>
      path.endsWith('/servers')
        ? (response) => send(response, 200, { data: [], links: { next } })
        : undefined;
    expect(await ground.sync()).toMatchObject({
      errors: [{ stage: 'list', code: 'redirect_refused' }],
    });
    expect(thief.requests).toEqual([]);
  });

  test('after some pages leaves what it did not list as it is', async () => {
    for (let index = 1; index <= 6; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    ground.cms.pageSize = 2;
    ground.cms.spoil = ({ path }) =>
      path.includes('cursor=2') ? (response) => send(response, 500, {}) : undefined;
    await ground.connections.add({ name: 'new-here' });
    const result = await ground.sync();
    expect(result).toMatchObject({ created: 0, removed: 0, errors: [{ stage: 'list' }] });
    expect([...ground.connections.all()].every(({ status }) => status === 'active')).toBe(true);
  });

  test('at one record lists the error and keeps the rest; the next sync makes up for it', async () => {
    for (const name of ['one', 'two', 'three']) await ground.connections.add({ name });
    const { id } = ground.connections.get('two');
    ground.cms.spoil = ({ method, body }) => {
      const isTwo = method === 'POST' && JSON.stringify(body).includes(id) && !isHealth(body);
      return isTwo ? (response) => send(response, 500, {}) : undefined;
    };
    const result = await ground.sync();
    expect(result).toMatchObject({
      created: 2,
      errors: [{ stage: 'create', side: 'cms', name: 'two', code: 'cms_refused' }],
    });
    ground.cms.spoil = () => undefined;
    expect(await ground.sync()).toMatchObject({ created: 1, errors: [] });
    expect(new Set([...ground.cms.records.values()].map(({ name }) => name))).toEqual(
      new Set(['one', 'two', 'three']),
    );
  });

  test('by listing almost nothing does not make the registry disconnect everything', async () => {
    for (let index = 1; index <= 6; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    ground.cms.records.clear();
    putRecord(ground.cms, 'a1');
    const refused = await ground.sync();
    expect(refused).toMatchObject({ removed: 0, errors: [{ code: 'mass_removal' }] });
    expect(await ground.sync({ allowMassRemoval: true })).toMatchObject({ removed: 5, errors: [] });
    expect([...ground.connections.all()].filter(({ status }) => status === 'active')).toHaveLength(
      1,
    );
  });
});

test.each([
  [1, 0],
  [2, 0],
  [3, 1],
  [4, 1],
])('a CMS of %i records that lists %i is not believed', async (count, left) => {
  for (let index = 1; index <= count; index++) putRecord(ground.cms, `a${index}`);
  await ground.sync();
  for (let index = left + 1; index <= count; index++) ground.cms.records.delete(`a${index}`);
  const refused = { removed: 0, errors: [{ code: 'mass_removal' }] };
  expect(await ground.sync({ syncMode: 'pull' })).toMatchObject(refused);
  const removed = count - left;
  expect(await ground.sync({ allowMassRemoval: true })).toMatchObject({ removed, errors: [] });
});

describe('a listing that is not believed', () => {
  const refused = { removed: 0, errors: [{ code: 'mass_removal' }] };

  test.each([1, 5])('does not undo the removal of %i of five connections', async (count) => {
    for (let index = 1; index <= 5; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    const gone = Array.from({ length: count }, (_, at) => `a${at + 1}`);
    for (const id of gone) {
      await ground.connections.disconnect(ground.connections.get(`server-${id}`).id);
    }
    const records = [...ground.cms.records];
    ground.cms.records.clear();
    expect(await ground.sync({ syncMode: 'pull' })).toMatchObject(refused);
    for (const [id, record] of records) ground.cms.records.set(id, record);
    expect(await ground.sync()).toMatchObject({ created: 0, removed: count, errors: [] });
    expect([...ground.cms.records.keys()]).toHaveLength(5 - count);
  });

  test('does not settle a conflict about what is there', async () => {
    for (let index = 1; index <= 5; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    await ground.connections.disconnect(ground.connections.get('server-a1').id);
    putRecord(ground.cms, 'a1', { description: 'changed' });
    const conflicts = [{ recordId: 'a1', field: 'presence', registry: 'removed' }];
    expect(await ground.sync()).toMatchObject({ conflicts });
    const records = [...ground.cms.records];
    ground.cms.records.clear();
    expect(await ground.sync()).toMatchObject(refused);
    for (const [id, record] of records) ground.cms.records.set(id, record);
    expect(await ground.sync()).toMatchObject({ created: 0, removed: 0, conflicts });
  });
});

describe('a record that was made anew at the CMS', () => {
  const linked = (id: string) => ({ action: 'link', side: 'both', recordId: id });

  test.each(['pull', 'bidirectional'] as const)('is linked again by its name: %s', async (mode) => {
    for (let index = 1; index <= 4; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    const { id } = ground.connections.get('server-a1');
    ground.cms.records.delete('a1');
    putRecord(ground.cms, 'b1', { name: 'server-a1', url: 'http://127.0.0.1:9/a1' });
    const result = await ground.sync({ syncMode: mode });
    expect(result).toMatchObject({ created: 0, removed: 0, errors: [], changes: [linked('b1')] });
    expect(ground.connections.get('server-a1')).toMatchObject({ id, status: 'active' });
    expect(await ground.sync({ syncMode: mode })).toMatchObject({ changes: [], errors: [] });
  });

  test('is no loss, also when all were', async () => {
    for (let index = 1; index <= 4; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    ground.cms.records.clear();
    for (let index = 1; index <= 4; index++) {
      const url = `http://127.0.0.1:9/a${index}`;
      putRecord(ground.cms, `b${index}`, { name: `server-a${index}`, url });
    }
    const changes = [linked('b1'), linked('b2'), linked('b3'), linked('b4')];
    expect(await ground.sync({ syncMode: 'pull' })).toMatchObject({ changes, errors: [] });
    ground.cms.records.delete('b1');
    expect(await ground.sync({ syncMode: 'pull' })).toMatchObject({ removed: 1, errors: [] });
  });
});

describe('one sync at a time', () => {
  test('a second one is refused, and one of a process that went away stands in the way of none', async () => {
    let release = () => {};
    ground.cms.spoil = () => (response) => {
      release = () => send(response, 200, []);
    };
    const first = ground.sync();
    await expect.poll(() => ground.cms.requests.length).toBe(1);
    const other = ground.openSyncs();
    await expect(ground.sync({}, other)).rejects.toMatchObject({ reason: 'sync_running' });
    const running = await other.list({ limit: 1, offset: 0 });
    expect(running.syncs).toMatchObject([{ status: 'running' }]);
    await ground.database.query(`update registry.leases set expires_at = '-infinity'`);
    const left = await other.list({ limit: 1, offset: 0 });
    expect(left.syncs).toMatchObject([{ status: 'failed' }]);
    ground.cms.spoil = () => undefined;
    expect(await ground.sync({}, other)).toMatchObject({ errors: [] });
    release();
    await first.catch(() => {});
    await other[Symbol.asyncDispose]();
  });
});

test('a CMS that lists half of its records is believed', async () => {
  for (let index = 1; index <= 4; index++) putRecord(ground.cms, `a${index}`);
  await ground.sync();
  for (const id of ['a1', 'a2']) ground.cms.records.delete(id);
  expect(await ground.sync()).toMatchObject({ removed: 2, errors: [] });
});

describe('a record that cannot be read', () => {
  const unreadable = { stage: 'list', side: 'cms', code: 'upstream' };

  test('without a name holds nothing else back', async () => {
    for (let index = 1; index <= 3; index++) putRecord(ground.cms, `a${index}`);
    await ground.sync();
    ground.cms.records.set('broken', { id: 'broken' });
    ground.cms.records.delete('a1');
    await ground.connections.add({ name: 'ours' });
    const planned = await ground.sync({ dryRun: true });
    expect(planned).toMatchObject({ created: 1, removed: 1, errors: [unreadable] });
    const done = await ground.sync();
    expect(done).toMatchObject({ created: 1, removed: 1, errors: [unreadable] });
    expect([...ground.cms.records.values()].map(({ name }) => name)).toContain('ours');
  });

  test('that is linked is not taken for removed', async () => {
    putRecord(ground.cms, 'a1');
    await ground.sync();
    for (const broken of [{ id: 'a1' }, { name: 'server-a1' }]) {
      ground.cms.records.set('a1', broken);
      expect(await ground.sync()).toMatchObject({ created: 0, removed: 0, errors: [unreadable] });
    }
  });

  test('and has the name of a connection holds that one back, and says so', async () => {
    await ground.connections.add({ name: 'ours' });
    await ground.connections.add({ name: 'other' });
    ground.cms.records.set('broken', { name: 'ours' });
    const result = await ground.sync();
    const held = { stage: 'create', side: 'cms', name: 'ours', code: 'record_unreadable' };
    expect(result).toMatchObject({ created: 1, errors: [unreadable, held] });
    expect(result.changes).toMatchObject([{ action: 'create', name: 'other' }]);
  });
});

test('a CMS that lost all is not believed for all that is pushed to it meanwhile', async () => {
  for (let index = 1; index <= 6; index++) putRecord(ground.cms, `a${index}`);
  await ground.sync();
  ground.cms.records.clear();
  const refused = { removed: 0, errors: [{ code: 'mass_removal' }] };
  expect(await ground.sync()).toMatchObject(refused);
  for (let index = 1; index <= 7; index++) await ground.connections.add({ name: `new-${index}` });
  expect(await ground.sync()).toMatchObject({ created: 7, ...refused });
  expect(await ground.sync()).toMatchObject({ created: 0, ...refused });
  expect(await ground.sync({ allowMassRemoval: true })).toMatchObject({ removed: 6, errors: [] });
});

test('a dry run says what would be refused, and the names that would be used', async () => {
  await ground.connections.add({ name: 'mine', type: 'client' });
  putRecord(ground.cms, 'a1', { name: 'My Weather!' });
  putRecord(ground.cms, 'a2', { name: 'mine' });
  putRecord(ground.cms, 'a3', { name: 'My Weather?' });
  putRecord(ground.cms, 'a4', { name: 'no address', url: undefined });
  const tried = await ground.sync({ dryRun: true });
  expect(tried.changes).toMatchObject([{ action: 'create', side: 'registry', name: 'My-Weather' }]);
  expect(tried.errors.map(({ code }) => code).toSorted()).toEqual([
    'invalid',
    'name_taken',
    'name_taken',
  ]);
  const done = await ground.sync();
  expect({ created: done.created, errors: done.errors.length }).toEqual({ created: 1, errors: 3 });
});

function isHealth(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'servers' in body;
}

describe('the key', () => {
  test('is neither stored nor answered', async () => {
    await ground.connections.add({ name: 'weather' });
    const result = await ground.sync();
    const stored = await Promise.all(
      ['cms_syncs', 'cms_links', 'cms_tags'].map((table) =>
        ground.database.query(`select * from registry.${table}`),
      ),
    );
    expect(JSON.stringify([result, stored])).not.toContain(cmsKey);
  });

  test('of secrets in endpoints nothing goes to the CMS', async () => {
    const headers = { Authorization: 'Bearer very-secret' };
    const url = 'http://127.0.0.1:9/mcp?api_key=very-secret&lang=en';
    await ground.connections.add({ name: 'remote', endpoint: { url, headers } });
    const args = ['--token', 'very-secret', '--verbose'];
    const env = { API_KEY: 'very-secret', PLAIN: 'very-secret' };
    const endpoint = { command: 'serve', args, env };
    await ground.connections.add({ name: 'local', protocol: 'stdio', endpoint });
    await ground.sync();
    expect(JSON.stringify(ground.cms.requests)).not.toContain('very-secret');
    expect(JSON.stringify(ground.cms.requests)).toContain('lang=en');
  });
});

import { describe, expect, test } from 'vitest';
import type { SyncConflict } from './sync-result.ts';
import { putRecord, useSyncGround } from './sync-testing.ts';

const ground = useSyncGround();

describe('two sides', () => {
  test('exchange what either lacks, and a second sync changes nothing', async () => {
    const metadata = { description: 'Says the weather', region: 'north' };
    await ground.connections.add({ name: 'weather', metadata });
    putRecord(ground.cms, 'a1', {
      name: 'Tides & Moon',
      description: 'Tides',
      metadata: { team: 'sea' },
    });
    const first = await ground.sync();
    expect(first).toMatchObject({ direction: 'bidirectional', created: 2, updated: 0, removed: 0 });
    expect(first).toMatchObject({ conflicts: [], errors: [], dryRun: false });
    expect(ground.connections.get('Tides-Moon')).toMatchObject({
      protocol: 'http',
      endpoint: { url: 'http://127.0.0.1:9/a1' },
      metadata: { description: 'Tides', team: 'sea' },
    });
    expect([...ground.cms.records.values()].at(-1)).toMatchObject({
      name: 'weather',
      description: 'Says the weather',
      metadata: { region: 'north' },
      endpoint: { url: 'http://127.0.0.1:9/mcp' },
      connectionId: ground.connections.get('weather').id,
    });
    const writes = ground.cms.writes().length;
    const second = await ground.sync();
    expect(second).toMatchObject({ created: 0, updated: 0, removed: 0, conflicts: [], errors: [] });
    expect(second.changes).toEqual([]);
    expect(ground.cms.writes()).toHaveLength(writes);
  });

  test('each field follows its owner, and what the other side changed alone gives way', async () => {
    const { id } = await ground.connections.add({
      name: 'weather',
      metadata: { description: 'old' },
    });
    await ground.sync();
    ground.cms.records.set('r1', {
      ...ground.cms.records.get('r1'),
      description: 'new',
      name: 'renamed',
    });
    const result = await ground.sync();
    expect(result).toMatchObject({ created: 0, updated: 2, removed: 0 });
    expect(result.conflicts).toMatchObject([
      {
        field: 'name',
        owner: 'registry',
        resolution: 'owner',
        registry: 'weather',
        cms: 'renamed',
      },
    ]);
    expect(ground.connections.find(id)?.metadata).toEqual({ description: 'new' });
    expect(ground.cms.records.get('r1')).toMatchObject({ name: 'weather', description: 'new' });
    expect(await ground.sync()).toMatchObject({ updated: 0, conflicts: [] });
  });

  test('of one name are linked, and what the owner replaces on the other side is told', async () => {
    const endpoint = { url: 'http://127.0.0.1:9/ours' };
    const metadata = { description: 'ours', region: 'south' };
    const { id } = await ground.connections.add({ name: 'weather', endpoint, metadata });
    const url = 'http://127.0.0.1:9/theirs';
    putRecord(ground.cms, 'r1', { name: 'weather', url, description: 'theirs' });
    const owner = { resolution: 'owner', connectionId: id, recordId: 'r1' };
    const { conflicts } = await ground.sync();
    expect(conflicts.toSorted(byField)).toMatchObject([
      { ...owner, field: 'description', owner: 'cms', registry: 'ours', cms: 'theirs' },
      { ...owner, field: 'endpoint', owner: 'registry', registry: endpoint, cms: { url } },
    ]);
    expect(ground.connections.find(id)).toMatchObject({
      endpoint,
      metadata: { description: 'theirs', region: 'south' },
    });
    expect(await ground.sync()).toMatchObject({ updated: 0, conflicts: [] });
  });

  test('that both changed a field keep what they have, and it is told until they agree', async () => {
    const { id } = await ground.connections.add({
      name: 'weather',
      metadata: { description: 'old' },
    });
    await ground.sync();
    await ground.connections.update(id, { metadata: { description: 'ours', region: 'south' } });
    const theirs = {
      ...ground.cms.records.get('r1'),
      description: 'theirs',
      metadata: { region: 'east' },
    };
    ground.cms.records.set('r1', theirs);
    const kept = { resolution: 'kept', connectionId: id, recordId: 'r1' };
    const conflicts = [
      { ...kept, field: 'description', owner: 'cms', registry: 'ours', cms: 'theirs' },
      { ...kept, field: 'metadata.region', registry: 'south', cms: 'east' },
    ];
    for (let round = 1; round <= 2; round++) {
      const result = await ground.sync();
      expect(result.conflicts).toHaveLength(2);
      expect(result.conflicts.toSorted(byField)).toMatchObject(conflicts);
      expect(result.updated).toBe(0);
    }
    expect(ground.connections.find(id)?.metadata).toEqual({ description: 'ours', region: 'south' });
    expect(ground.cms.records.get('r1')).toEqual(theirs);
    await ground.connections.update(id, { metadata: { description: 'theirs', region: 'east' } });
    expect(await ground.sync()).toMatchObject({ updated: 0, conflicts: [] });
    ground.cms.records.set('r1', { ...theirs, description: 'later' });
    expect(await ground.sync()).toMatchObject({ updated: 1, conflicts: [] });
    expect(ground.connections.find(id)?.metadata['description']).toBe('later');
  });

  test('a removal goes over, is not undone by an old listing, and yields to a change', async () => {
    putRecord(ground.cms, 'a1');
    putRecord(ground.cms, 'a2');
    await ground.connections.add({ name: 'ours' });
    await ground.sync();
    const a1 = ground.cms.records.get('a1');
    await ground.connections.disconnect(ground.connections.get('server-a1').id);
    ground.cms.records.delete('r3');
    const result = await ground.sync();
    expect(result).toMatchObject({ created: 0, updated: 0, removed: 2, conflicts: [] });
    expect(ground.cms.records.has('a1')).toBe(false);
    expect(ground.connections.findByName('ours')).toBeUndefined();
    ground.cms.records.set('a1', { ...a1 });
    expect(await ground.sync()).toMatchObject({ created: 0, removed: 1 });
    await ground.connections.disconnect(ground.connections.get('server-a2').id);
    putRecord(ground.cms, 'a2', { description: 'still needed' });
    expect(await ground.sync()).toMatchObject({
      removed: 0,
      conflicts: [{ field: 'presence', registry: 'removed', cms: 'changed', resolution: 'kept' }],
    });
    expect(ground.cms.records.has('a2')).toBe(true);
  });

  test('of the same name are taken for one', async () => {
    await ground.connections.add({ name: 'server-a1', metadata: { region: 'north' } });
    putRecord(ground.cms, 'a1', { description: 'from the CMS', metadata: {} });
    const result = await ground.sync();
    expect(result.changes[0]).toMatchObject({ action: 'link', name: 'server-a1', recordId: 'a1' });
    expect(result).toMatchObject({ created: 0, removed: 0 });
    const { metadata } = ground.connections.get('server-a1');
    expect(metadata).toEqual({ description: 'from the CMS', region: 'north' });
    expect(ground.cms.records.get('a1')).toMatchObject({
      endpoint: { url: 'http://127.0.0.1:9/mcp' },
    });
    expect(await ground.sync()).toMatchObject({ created: 0, updated: 0 });
  });

  test('one way only the one side changes', async () => {
    putRecord(ground.cms, 'a1');
    await ground.connections.add({ name: 'ours' });
    expect(await ground.sync({ syncMode: 'pull' })).toMatchObject({
      direction: 'pull',
      created: 1,
    });
    expect(ground.cms.writes()).toEqual([]);
    expect(ground.cms.healths).toEqual([]);
    putRecord(ground.cms, 'a2');
    expect(await ground.sync({ syncMode: 'push' })).toMatchObject({
      direction: 'push',
      created: 1,
    });
    expect(ground.connections.findByName('server-a2')).toBeUndefined();
    expect(ground.cms.records.size).toBe(3);
  });

  test('a dry run tells the same as a sync and changes neither', async () => {
    putRecord(ground.cms, 'a1');
    await ground.connections.add({ name: 'ours' });
    const dry = await ground.sync({ dryRun: true });
    expect(dry).toMatchObject({ created: 2, dryRun: true });
    expect(ground.cms.writes()).toEqual([]);
    expect([...ground.connections.all()]).toHaveLength(1);
    const { changes } = await ground.sync();
    expect(changes).toHaveLength(dry.changes.length);
    expect(changes).toEqual(expect.arrayContaining([...dry.changes]));
  });
});

function byField(one: SyncConflict, other: SyncConflict): number {
  return one.field < other.field ? -1 : 1;
}

import { beforeEach, expect, test } from 'vitest';
import { putRecord, useSyncGround } from './sync-testing.ts';

const ground = useSyncGround();
const modes = ['bidirectional', 'pull', 'push'] as const;

/** Five servers that both sides have alike. */
beforeEach(async () => {
  for (let index = 1; index <= 5; index++) putRecord(ground.cms, `a${index}`);
  await ground.sync();
});

const disconnect = (name: string) => ground.connections.disconnect(ground.connections.get(name).id);

test('a push leaves removed what the CMS removed, and the next pull takes it over', async () => {
  ground.cms.records.delete('a1');
  for (const _ of [1, 2]) {
    expect(await ground.sync({ syncMode: 'push' })).toMatchObject({ changes: [], errors: [] });
  }
  expect(ground.connections.get('server-a1')).toMatchObject({ status: 'active' });
  const pulled = await ground.sync({ syncMode: 'pull' });
  expect(pulled).toMatchObject({ removed: 1, conflicts: [], errors: [] });
  expect(ground.connections.findByName('server-a1')).toBeUndefined();
  expect([...ground.cms.records.keys()]).toEqual(['a2', 'a3', 'a4', 'a5']);
});

test('a pull leaves at the CMS what was removed here, and the next push removes it there', async () => {
  await disconnect('server-a1');
  expect(await ground.sync({ syncMode: 'pull' })).toMatchObject({ changes: [], conflicts: [] });
  expect(await ground.sync({ syncMode: 'push' })).toMatchObject({ removed: 1, conflicts: [] });
  expect(ground.cms.records.has('a1')).toBe(false);
});

test('what one side removed and the other changed is told by every mode until they agree', async () => {
  await disconnect('server-a1');
  putRecord(ground.cms, 'a1', { description: 'still needed' });
  ground.cms.records.delete('a2');
  const { id } = ground.connections.get('server-a2');
  await ground.connections.update(id, { metadata: { description: 'changed here' } });
  const told = { field: 'presence', resolution: 'kept' };
  const conflicts = expect.arrayContaining([
    expect.objectContaining({ ...told, recordId: 'a1', registry: 'removed', cms: 'changed' }),
    expect.objectContaining({ ...told, recordId: 'a2', registry: 'changed', cms: 'removed' }),
  ]);
  for (const syncMode of [...modes, ...modes]) {
    expect(await ground.sync({ syncMode }), syncMode).toMatchObject({ changes: [], conflicts });
  }
  ground.cms.records.delete('a1');
  await disconnect('server-a2');
  for (const syncMode of modes) {
    expect(await ground.sync({ syncMode }), syncMode).toMatchObject({ changes: [], conflicts: [] });
  }
});

test('a push to a CMS that lost most does not have its loss believed', async () => {
  for (const id of ['a1', 'a2', 'a3', 'a4', 'a5']) ground.cms.records.delete(id);
  for (let index = 1; index <= 6; index++) await ground.connections.add({ name: `new-${index}` });
  const refused = { removed: 0, errors: [{ stage: 'remove', code: 'mass_removal' }] };
  expect(await ground.sync({ syncMode: 'push' })).toMatchObject({ created: 6, ...refused });
  expect(await ground.sync()).toMatchObject({ created: 0, ...refused });
});

test.each(['bidirectional', 'push'] as const)(
  'what the CMS lost is made there anew when that is asked for: %s',
  async (syncMode) => {
    ground.cms.records.clear();
    const { id } = ground.connections.get('server-a1');
    await ground.connections.update(id, { metadata: { description: 'changed here' } });
    const asked = { syncMode, restoreRemoved: true };
    const planned = await ground.sync({ ...asked, dryRun: true });
    expect(planned).toMatchObject({ created: 5, removed: 0, conflicts: [], errors: [] });
    expect(await ground.sync(asked)).toMatchObject({ created: 5, removed: 0, errors: [] });
    expect(new Set([...ground.cms.records.values()].map(({ name }) => name))).toEqual(
      new Set(['server-a1', 'server-a2', 'server-a3', 'server-a4', 'server-a5']),
    );
    expect(await ground.sync()).toMatchObject({ changes: [], conflicts: [], errors: [] });
  },
);

test('a pull removes what the CMS removed, whatever is asked for', async () => {
  ground.cms.records.delete('a1');
  const asked = { syncMode: 'pull', restoreRemoved: true } as const;
  expect(await ground.sync(asked)).toMatchObject({ created: 0, removed: 1, errors: [] });
});

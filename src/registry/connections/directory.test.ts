import { expect, test } from 'vitest';
import type { Connection, ConnectionChange } from './connection.ts';
import type { ConnectionState } from './connection-row.ts';
import { ConnectionDirectory } from './directory.ts';

const health = {
  status: 'initializing',
  checksPerformed: 0,
  failedChecks: 0,
  failuresInRow: 0,
} as const;

function connectionOf(id: string, revision: number, over: Partial<Connection> = {}): Connection {
  return {
    id,
    name: id,
    type: 'server',
    status: 'active',
    ownerId: 'usr_1',
    declared: [],
    quarantined: [],
    metadata: {},
    healthCheck: { enabled: true, interval: 30, timeout: 5_000 },
    health,
    createdAtMs: 0,
    lastActiveAtMs: 0,
    revision,
    protocol: 'http',
    endpoint: { url: 'http://127.0.0.1:9/' },
    ...over,
    // The parts of the union that are given belong together.
  } as Connection;
}

function stateOf(id: string, revision: number, over: Partial<ConnectionState> = {}) {
  return {
    id,
    revision,
    status: 'active',
    health,
    lastActiveAtMs: 0,
    disconnectedAtMs: null,
    ...over,
  } as const;
}

test('a row that comes after newer news of the state keeps both', () => {
  const directory = new ConnectionDirectory();
  directory.put(connectionOf('con_1', 1));
  directory.apply(stateOf('con_1', 3, { status: 'error' }));
  directory.put(connectionOf('con_1', 2, { name: 'renamed' }));
  expect(directory.find('con_1')).toMatchObject({ name: 'renamed', status: 'error', revision: 3 });
  expect(directory.findByName('renamed')?.id).toBe('con_1');
  expect(directory.findByName('con_1')).toBeUndefined();
});

test('older news change nothing', () => {
  const directory = new ConnectionDirectory();
  directory.put(connectionOf('con_1', 5));
  directory.put(connectionOf('con_1', 4, { name: 'older' }));
  directory.apply(stateOf('con_1', 5, { status: 'idle' }));
  expect(directory.find('con_1')).toMatchObject({ name: 'con_1', status: 'active' });
});

test('connections come in the order of their ids, whenever they were heard of', () => {
  const directory = new ConnectionDirectory();
  for (const id of ['con_2', 'con_3', 'con_1']) directory.put(connectionOf(id, 1));
  expect([...directory.all()].map(({ id }) => id)).toEqual(['con_1', 'con_2', 'con_3']);
});

test('a disconnected connection stays, and is found by neither name nor capability', () => {
  const directory = new ConnectionDirectory();
  const declared = [{ name: 'search' }];
  directory.put(connectionOf('con_1', 1, { declared }));
  expect(directory.openCount).toBe(1);
  directory.apply(stateOf('con_1', 2, { status: 'disconnected', disconnectedAtMs: 9 }));
  expect(directory.find('con_1')).toMatchObject({ disconnectedAtMs: 9 });
  expect(directory.findByName('con_1')).toBeUndefined();
  expect([...directory.capabilities()]).toEqual([]);
  expect({ open: directory.openCount, all: directory.size }).toEqual({ open: 0, all: 1 });
});

test('a name keeps its new owner when news of the old one’s end come late', () => {
  const directory = new ConnectionDirectory();
  directory.put(connectionOf('con_1', 1, { name: 'shared' }));
  directory.put(connectionOf('con_2', 3, { name: 'shared' }));
  directory.apply(stateOf('con_1', 2, { status: 'disconnected', disconnectedAtMs: 9 }));
  expect(directory.findByName('shared')?.id).toBe('con_2');
});

test('a listener that throws keeps no other from hearing of a change, and may leave', () => {
  const errors: unknown[] = [];
  const directory = new ConnectionDirectory((error) => errors.push(error));
  const heard: ConnectionChange[] = [];
  directory.onChange(() => {
    throw new Error('mine');
  });
  const stop = directory.onChange((change) => heard.push(change));
  directory.put(connectionOf('con_1', 1));
  stop();
  directory.apply(stateOf('con_1', 2, { status: 'idle' }));
  expect(heard).toMatchObject([{ after: { id: 'con_1', status: 'active' } }]);
  expect(errors).toHaveLength(2);
});

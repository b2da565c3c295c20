import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { insertWorkspace } from '../workspaces/workspace-store.ts';
import { Blobs } from './blobs.ts';
import { StoredFiles } from './stored-files.ts';
import { WorkspaceFolder } from './workspace-folder.ts';

/** A workspace with files of its own, on tables that others may share. */
export async function openTestFiles(sql: Database, within = tmpdir()) {
  const lifetime = new Lifetime(silentLog);
  const folder = await mkdtemp(join(within, 'ennead-files-'));
  lifetime.defer('the folder', () => rm(folder, { recursive: true }));
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const id = newId('wsp');
  const root = join(folder, 'workspace');
  await mkdir(root);
  const workspace = { id, name: 'Test', ownerId: 'usr_1', members: [], path: root, settings: {} };
  await insertWorkspace(sql, { ...workspace, createdAtMs: Date.now(), updatedAtMs: Date.now() });
  const files = await start();
  return { id, root, files, reopen: start, startOn, [Symbol.asyncDispose]: dispose };

  function start() {
    return startOn(sql);
  }

  /** On tables of which something may fail. */
  async function startOn(tables: Database) {
    const started = new StoredFiles({
      sql: tables,
      bus,
      log: silentLog,
      blobs: new Blobs(join(folder, 'blobs'), 1_000_000),
      changesKept: 1_000,
      placeOf: async (workspaceId) => ({
        workspaceId,
        folder: new WorkspaceFolder(root),
        quotaBytes: 10_000_000,
      }),
    });
    lifetime.own('the files', started);
    await started.start();
    return started;
  }

  function dispose() {
    return lifetime[Symbol.asyncDispose]();
  }
}

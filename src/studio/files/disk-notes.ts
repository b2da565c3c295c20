import { Fault } from '../../kit/errors.ts';
import type { Blobs } from './blobs.ts';
import { hashStream } from './blobs.ts';
import type { DiskStamps } from './disk-stamps.ts';
import type { FileLog } from './file-log.ts';
import type { FileRecord } from './file.ts';
import { findCollisions, type FileSql, type FileState, type NewChange } from './file-store.ts';
import { diskDevice } from './own-devices.ts';
import { sideBySide } from './side-by-side.ts';
import type { DiskFile, DiskState, WorkspaceFolder } from './workspace-folder.ts';

export interface DiskNotesParts {
  readonly sql: FileSql;
  readonly log: FileLog;
  readonly blobs: Blobs;
  readonly stamps: DiskStamps;
}

/** A workspace as its files need it. */
export interface FilePlace {
  readonly workspaceId: string;
  readonly folder: WorkspaceFolder;
  readonly quotaBytes: number;
}

/** What paths hold once what others did in the folder is noted. */
export interface DiskNotes {
  readonly state: FileState;
  /** Paths of which something was noted. */
  readonly changed: ReadonlySet<string>;
  /** Paths that could not be noted, with why. */
  readonly faults: ReadonlyMap<string, Fault>;
}

const atOnce = 8;
const attemptsMax = 5;

/**
 * Notes what others did to paths in the folder, so that nothing of it is overwritten unseen. The caller has
 * the workspace's lock; no two of the paths may be in each other's way.
 */
export async function noteDisk(
  parts: DiskNotesParts,
  place: FilePlace,
  paths: readonly string[],
): Promise<DiskNotes> {
  const { workspaceId } = place;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const state = await parts.log.read(workspaceId, paths);
    const found = await findChanges(parts, place, { paths, records: state.records });
    try {
      const { faults, changed } = found;
      if (changed.length === 0) return { state, changed: new Set(), faults };
      const changes = await withoutCollisions(parts, workspaceId, changed);
      const stored = numbered(state, changes);
      if (!(await parts.log.store(workspaceId, state, stored))) continue;
      const noted = new Set(changes.map(({ path }) => path));
      return { state: await parts.log.read(workspaceId, paths), changed: noted, faults };
    } finally {
      for (const hash of found.held) parts.blobs.release(hash);
    }
  }
  throw new Fault('conflict', 'others change these files all the time', {
    reason: 'file_busy',
    retryAfter: 1,
  });
}

interface Found {
  readonly changed: NewChange[];
  readonly faults: Map<string, Fault>;
  /** Contents that are not named yet. */
  readonly held: string[];
}

type Records = ReadonlyMap<string, FileRecord>;

async function findChanges(
  parts: DiskNotesParts,
  place: FilePlace,
  { paths, records }: { readonly paths: readonly string[]; readonly records: Records },
): Promise<Found> {
  const found: Found = { changed: [], faults: new Map(), held: [] };
  const states = await place.folder.look(paths);
  if ([...records.keys()].some((path) => states.get(path) === 'nothing')) {
    // What cannot be seen has not been deleted.
    await place.folder.requireRoot();
  }
  await sideBySide(paths, atOnce, async (path) => {
    try {
      const lies = states.get(path) ?? 'nothing';
      const change = await changeAt(parts, place, { path, lies, record: records.get(path) });
      if (!change) return;
      found.changed.push(change);
      if (change.hash !== undefined) found.held.push(change.hash);
    } catch (error) {
      found.faults.set(path, Fault.from(error));
    }
  });
  return found;
}

interface Looked {
  readonly path: string;
  readonly lies: DiskState;
  readonly record: FileRecord | undefined;
}

/** Of a content the caller holds it then. */
async function changeAt(
  parts: DiskNotesParts,
  place: FilePlace,
  { path, lies, record }: Looked,
): Promise<NewChange | undefined> {
  const common = {
    seq: 0,
    deviceId: diskDevice,
    opId: undefined,
    path,
    baseHash: record?.hash,
    conflictOf: undefined,
    atMs: Date.now(),
    isOnDisk: true,
  };
  if (typeof lies === 'string') {
    // What is only not read has not been deleted.
    if (!record || lies === 'linked') return undefined;
    return { ...common, hash: undefined, size: 0, isExecutable: false };
  }
  const { size, isExecutable } = lies;
  const hash = await hashOf(parts, place, { path, file: lies });
  if (hash === record?.hash && isExecutable === record.isExecutable) return undefined;
  await hold(parts, place, { path, hash });
  return { ...common, hash, size, isExecutable };
}

async function hashOf(
  { blobs, stamps }: DiskNotesParts,
  { workspaceId, folder }: FilePlace,
  { path, file }: { readonly path: string; readonly file: DiskFile },
): Promise<string> {
  const known = stamps.hashOf(workspaceId, path, file);
  if (known !== undefined) return known;
  blobs.requireSize(file.size);
  const found = await folder.open(path);
  if (!found) throw busyFile(path);
  const hash = await hashStream(found.createReadStream());
  stamps.note(workspaceId, path, { file, hash });
  return hash;
}

/** Keeps the content, so that it can be had as a version. */
async function hold(
  { blobs }: DiskNotesParts,
  { folder }: FilePlace,
  { path, hash }: { readonly path: string; readonly hash: string },
): Promise<void> {
  if (await blobs.holdKept(hash)) return;
  const opened = await folder.open(path);
  if (!opened) throw busyFile(path);
  try {
    await blobs.hold(opened.createReadStream(), hash);
  } catch (error) {
    if (error instanceof Fault && error.reason === 'hash_mismatch') throw busyFile(path);
    throw error;
  } finally {
    // Where the store could not take anything nobody has read from it.
    await opened.close();
  }
}

/** What is in the way of another is left alone until that one goes. */
async function withoutCollisions(
  { sql }: DiskNotesParts,
  workspaceId: string,
  changes: readonly NewChange[],
): Promise<NewChange[]> {
  const made = changes.filter(({ baseHash }) => baseHash === undefined).map(({ path }) => path);
  const collisions = await findCollisions(sql, workspaceId, made);
  return changes.filter(({ path }) => !collisions.has(path));
}

/** What lies in the folder takes its room already: no quota refuses it. */
function numbered({ end, records }: FileState, changes: readonly NewChange[]) {
  let { lastSeq, usedBytes } = end;
  const numberedChanges = changes.map((change) => {
    lastSeq += 1;
    usedBytes += change.size - (records.get(change.path)?.size ?? 0);
    return { ...change, seq: lastSeq };
  });
  return { changes: numberedChanges, usedBytes };
}

function busyFile(path: string): Fault {
  return new Fault('conflict', `${path} is being changed in the folder`, {
    reason: 'file_busy',
    retryAfter: 1,
  });
}

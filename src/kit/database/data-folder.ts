import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../errors.ts';
import {
  awaitLockFile,
  LockedError,
  releaseLockFile,
  touchLockFile,
  type LockWait,
} from './lock-file.ts';

const touchEveryMs = 5_000;

/** The exclusive right to a data folder; disposing it gives the folder free. */
export interface DataFolderLock extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates the folder (0700) if it is missing and locks it, until the lock is disposed or the
 * process ends. A folder that a live process holds is a Fault `conflict` that names the process;
 * one that cannot be written to is a Fault `forbidden` or `invalid`. Whether the holder lives takes up to
 * 5 s to tell where it is of another host or container, and 30 s when it does not.
 */
export async function lockDataFolder(path: string, wait?: LockWait): Promise<DataFolderLock> {
  const file = join(path, 'lock');
  const token = await explainFailure(path, async () => {
    await makeFolder(path);
    return awaitLockFile(file, wait);
  });
  // A touch that fails is no reason to stop: the next one may succeed.
  const timer = setInterval(() => void touchLockFile(file).catch(() => {}), touchEveryMs).unref();
  return {
    path,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await releaseLockFile(file, token);
    },
  };
}

/**
 * Creates a folder (0700) and its parents where they are missing; throws when it is no folder or
 * cannot be made. Not Node's recursive `mkdir`, which never ends below a parent that exists but
 * takes no folders, such as /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || (await isThere(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function explainFailure<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    throw explain(path, cause);
  }
}

function explain(path: string, cause: unknown): unknown {
  if (cause instanceof LockedError) {
    const { pid, host, lockedAt } = cause.holder;
    const message =
      `the data folder ${path} is in use by process ${pid} on ${host} since ${lockedAt}: ` +
      'stop that one first, or set ENNEAD_DATA_DIR to another folder';
    return new Fault('conflict', message, { cause, detail: { pid, host } });
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EEXIST' || code === 'ENOTDIR') return notDirectory(path);
  if (typeof code === 'string' && unwritable.has(code)) {
    return new Fault('forbidden', `the data folder ${path} is not writable (${code})`, { cause });
  }
  return cause;
}

const unwritable = new Set(['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT']);

function notDirectory(path: string): Fault {
  return new Fault('invalid', `the data folder ${path} is not a directory`);
}

import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../errors.ts';
import { acquireLockFile, LockedError, releaseLockFile, touchLockFile } from './lock-file.ts';

const touchEveryMs = 5_000;

/** The exclusive right to a data folder; disposing it gives the folder free. */
export interface DataFolderLock extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates the folder (0700) if it is missing and locks it, until the lock is disposed or the
 * process ends. A folder that a live process holds is a Fault `conflict` that names the process;
 * one that cannot be written to is a Fault `forbidden` or `invalid`.
 */
export async function lockDataFolder(path: string): Promise<DataFolderLock> {
  const file = join(path, 'lock');
  const token = await explainFailure(path, async () => {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (!(await stat(path)).isDirectory()) throw notDirectory(path);
    return acquireLockFile(file);
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
    const message = `the data folder ${path} is in use by process ${pid} on ${host} since ${lockedAt}`;
    return new Fault('conflict', message, { cause, detail: { pid, host } });
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EEXIST' || code === 'ENOTDIR') return notDirectory(path);
  if (typeof code === 'string' && unwritable.has(code)) {
    return new Fault('forbidden', `the data folder ${path} is not writable (${code})`, { cause });
  }
  return cause;
}

const unwritable = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT']);

function notDirectory(path: string): Fault {
  return new Fault('invalid', `the data folder ${path} is not a directory`);
}

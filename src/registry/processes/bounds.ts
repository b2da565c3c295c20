import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { platform } from 'node:os';
import type { ProcessBounds } from './diagnostics.ts';

/** What a process is started through, and what that does. */
export interface Launcher {
  /** Comes before the command; empty when the system offers nothing. */
  readonly prefix: readonly string[];
  readonly bounds: ProcessBounds;
}

export interface BoundsOptions {
  /** For the server and all its descendants together, watched. */
  readonly memoryBytes: number;
  /** The server and its descendants, watched. */
  readonly processesMax: number;
  readonly niceness: number;
}

/**
 * Finds out what this host offers. The memory and size of a whole tree are watched everywhere; where there is
 * `prlimit`, the kernel bounds the writable memory of each single process too, at twice as much since
 * that counts what was reserved and never touched. Address space is not bounded, as Node and other
 * runtimes reserve far more than they use; the number of processes neither, as the kernel counts it
 * for the whole user.
 */
export async function detectLauncher(options: BoundsOptions): Promise<Launcher> {
  const { memoryBytes, processesMax, niceness } = options;
  const watched = { treeMemoryBytes: memoryBytes, treeProcesses: processesMax, niceness };
  const prlimit = platform() === 'linux' ? await findPrlimit() : undefined;
  if (!prlimit) return { prefix: [], bounds: { sandbox: 'none', limits: watched } };
  const limits = { ...watched, processDataBytes: 2 * memoryBytes, coreFileBytes: 0 };
  const prefix = [prlimit, '--core=0:0', `--data=${2 * memoryBytes}:${2 * memoryBytes}`, '--'];
  return { prefix, bounds: { sandbox: 'none', limits } };
}

async function findPrlimit(): Promise<string | undefined> {
  for (const path of ['/usr/bin/prlimit', '/bin/prlimit']) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

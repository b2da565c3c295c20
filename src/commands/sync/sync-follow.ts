import { watch } from 'chokidar';
import { relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import { ignoreFile } from '../../studio/files/ignore-rules.ts';
import type { StudioAccess } from './studio-access.ts';
import type { SyncFolder } from './sync-folder.ts';
import type { SyncRun } from './sync-run.ts';

export interface FollowOptions {
  readonly access: Pick<StudioAccess, 'follow'>;
  readonly folder: SyncFolder;
  readonly run: SyncRun;
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly signal: AbortSignal;
  /** Both sides were compared, and are in step but for what is left out. */
  readonly onSettled: () => void;
  readonly onBreak: (reason: string) => void;
}

/** A program that writes a file does so in several steps. */
const settleMs = 100;
const rescanMs = 60_000;
const pauseMsMax = 30_000;

/** Keeps both sides in step until the signal; goes on after every break of the connection. */
export async function follow(options: FollowOptions): Promise<void> {
  const { signal, onBreak } = options;
  const due = new DuePaths();
  signal.addEventListener('abort', () => due.wake(), { once: true });
  await using watcher = watchFolder(options.folder, due);
  void watcher;
  for (let failures = 0; !signal.aborted;) {
    try {
      await followStream(options, due);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      failures += 1;
      onBreak(error.message);
    }
    const pauseMs = Math.min(pauseMsMax, 500 * 2 ** Math.min(failures, 10));
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** Until the stream ends. What came before it was open is found by comparing everything. */
async function followStream(options: FollowOptions, due: DuePaths): Promise<void> {
  const { access, run, workspaceId, deviceId, signal, onSettled } = options;
  const stream = await access.follow({
    workspaceId,
    deviceId,
    onMessage: (message) => {
      const path = run.hear(message);
      if (path !== undefined || run.isStale) due.add(path);
    },
  });
  void stream.ended.then(() => due.wake());
  try {
    let comparedAtMs = 0;
    while (stream.isOpen && !signal.aborted) {
      const paths = due.take();
      const isDue = Date.now() - comparedAtMs >= rescanMs;
      // By other rules other files count, from now on: comparing everything reads them.
      const isWhole = run.isStale || isDue || paths.includes(ignoreFile);
      if (isWhole) {
        comparedAtMs = Date.now();
        await run.settleAll();
      } else await run.settle(paths);
      if (run.isSettled) {
        stream.ack(run.seenSeq);
        onSettled();
      }
      await due.wait(rescanMs);
    }
  } finally {
    stream.close();
  }
}

function watchFolder(folder: SyncFolder, due: DuePaths): AsyncDisposable {
  const pathOf = (absolute: string) => relative(folder.root, absolute).split(sep).join('/');
  const watcher = watch(folder.root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (absolute, stats) => {
      const path = pathOf(absolute);
      if (path === '' || !stats) return false;
      return !(stats.isDirectory() ? folder.isKeptFolder(path) : folder.isKept(path));
    },
  });
  watcher.on('all', (event, absolute) => {
    if (!event.endsWith('Dir')) due.add(pathOf(absolute));
  });
  // What cannot be watched is found by comparing everything once a minute.
  watcher.on('error', () => {});
  return { [Symbol.asyncDispose]: () => watcher.close() };
}

/** Paths at which something happened, in either place. */
class DuePaths {
  readonly #paths = new Set<string>();
  #wake: (() => void) | undefined;
  #isWoken = false;

  /** Without a path: something to do that has none. */
  add(path: string | undefined): void {
    if (path !== undefined) this.#paths.add(path);
    this.wake();
  }

  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  take(): string[] {
    const paths = [...this.#paths];
    this.#paths.clear();
    this.#isWoken = false;
    return paths;
  }

  /** Until something is due, and a moment longer for what comes with it. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#isWoken) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
      this.#wake = undefined;
    }
    await sleep(settleMs);
  }
}

function isPassing(error: unknown): error is Fault {
  if (!(error instanceof Fault) || error.reason === 'folder_missing') return false;
  return ['unavailable', 'deadline', 'upstream', 'exhausted', 'internal'].includes(error.code);
}

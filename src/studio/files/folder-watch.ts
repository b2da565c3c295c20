import type { FSWatcher } from 'chokidar';
import { relative, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../kit/log.ts';
import { ignoreFile, IgnoreRules } from './ignore-rules.ts';
import { flawOf } from './paths.ts';

export interface FolderWatchOptions {
  readonly log: Log;
  readonly rootOf: (workspaceId: string) => Promise<string>;
  /** Something happened to paths. */
  readonly onPaths: (workspaceId: string, paths: readonly string[]) => Promise<unknown>;
  /** Events may have been missed. */
  readonly onLost: (workspaceId: string) => Promise<unknown>;
}

interface Watched {
  readonly workspaceId: string;
  opening: Promise<FSWatcher | undefined>;
  /** Paths that may be changed still. */
  readonly due: Map<string, NodeJS.Timeout>;
  /** Paths that are to be told. */
  readonly settled: Set<string>;
  readonly rescan: NodeJS.Timeout;
  isTelling: boolean;
  readers: number;
}

/** A program that writes a file does so in several steps. */
const settleMs = 50;
const rescanMs = 60_000;

/** Watches the folders of workspaces while somebody follows them; a rescan a minute finds what was missed. */
export class FolderWatch implements AsyncDisposable {
  readonly #options: FolderWatchOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** The answer ends it; the last one closes the watcher. */
  watch(workspaceId: string): () => void {
    const watched = this.#watched.get(workspaceId) ?? this.#begin(workspaceId);
    watched.readers += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      watched.readers -= 1;
      if (watched.readers === 0) void this.end(workspaceId);
    };
  }

  /** Ends it for all. */
  async end(workspaceId: string): Promise<void> {
    const watched = this.#watched.get(workspaceId);
    if (!watched) return;
    this.#watched.delete(workspaceId);
    clearInterval(watched.rescan);
    for (const timer of watched.due.values()) clearTimeout(timer);
    const watcher = await watched.opening;
    await watcher?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#watched.keys()].map((workspaceId) => this.end(workspaceId)));
  }

  #begin(workspaceId: string): Watched {
    const rescan = setInterval(() => void this.#lose(workspaceId), rescanMs);
    rescan.unref();
    const watched: Watched = {
      workspaceId,
      opening: Promise.resolve(undefined),
      due: new Map(),
      settled: new Set(),
      rescan,
      isTelling: false,
      readers: 0,
    };
    this.#watched.set(workspaceId, watched);
    watched.opening = this.#open(watched);
    return watched;
  }

  async #open(watched: Watched): Promise<FSWatcher | undefined> {
    const { rootOf, log } = this.#options;
    const { workspaceId } = watched;
    try {
      const root = await rootOf(workspaceId);
      const rules = await IgnoreRules.of(root);
      const { watch } = await import('chokidar');
      const pathOf = (absolute: string) => relative(root, absolute).split(sep).join('/');
      const watcher = watch(root, {
        ignoreInitial: true,
        followSymlinks: false,
        ignored: (absolute, stats) => isIgnored(rules, pathOf(absolute), stats?.isDirectory()),
      });
      watcher.on('all', (event, absolute) => {
        if (!event.endsWith('Dir')) this.#note(watched, pathOf(absolute));
      });
      watcher.on('error', (err) => {
        log.warn({ err, workspaceId }, 'a folder is watched in part');
        void this.#lose(workspaceId);
      });
      // What happened before the watcher was ready is found now.
      watcher.once('ready', () => void this.#lose(workspaceId));
      return watcher;
    } catch (err) {
      log.warn({ err, workspaceId }, 'a folder cannot be watched; it is read once a minute');
      return undefined;
    }
  }

  /** Other files count by new rules, also in folders that were not looked into so far. */
  async #openAnew(watched: Watched): Promise<void> {
    const before = watched.opening;
    const opening = before.then(async (watcher) => {
      await watcher?.close();
      return this.#watched.get(watched.workspaceId) === watched ? this.#open(watched) : undefined;
    });
    watched.opening = opening;
    await opening;
  }

  #note(watched: Watched, path: string): void {
    if (flawOf(path) !== undefined) return;
    const { due, settled } = watched;
    clearTimeout(due.get(path));
    const timer = setTimeout(() => {
      due.delete(path);
      settled.add(path);
      // Those that settle at the same time are told together.
      if (!watched.isTelling) void this.#tellSettled(watched);
    }, settleMs);
    due.set(path, timer);
  }

  async #tellSettled(watched: Watched): Promise<void> {
    const { workspaceId, settled } = watched;
    watched.isTelling = true;
    await nextTurn();
    while (settled.size > 0 && this.#watched.get(workspaceId) === watched) {
      const paths = [...settled];
      settled.clear();
      await this.#tell(() => this.#options.onPaths(workspaceId, paths), workspaceId);
      if (paths.includes(ignoreFile)) await this.#openAnew(watched);
    }
    watched.isTelling = false;
  }

  async #lose(workspaceId: string): Promise<void> {
    if (!this.#watched.has(workspaceId)) return;
    await this.#tell(() => this.#options.onLost(workspaceId), workspaceId);
  }

  async #tell(work: () => Promise<unknown>, workspaceId: string): Promise<void> {
    try {
      await work();
    } catch (err) {
      this.#options.log.warn({ err, workspaceId }, 'a change in a folder could not be noted');
    }
  }
}

function isIgnored(rules: IgnoreRules, path: string, isFolder: boolean | undefined): boolean {
  if (path === '' || path === ignoreFile) return false;
  if (flawOf(path) !== undefined) return true;
  return isFolder ? rules.ignoresFolder(path) : rules.ignores(path);
}

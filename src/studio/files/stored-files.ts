import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { Blobs } from './blobs.ts';
import { deleteFiles, readChanges, readVersions } from './change-store.ts';
import { DiskStamps } from './disk-stamps.ts';
import { noteDisk, type DiskNotesParts, type FilePlace } from './disk-notes.ts';
import { CommitQueue } from './commit-queue.ts';
import { repair } from './crash-repair.ts';
import { FileCommits } from './file-commits.ts';
import { FileLog, type FileLogOptions } from './file-log.ts';
import type {
  AppliedChange,
  FileChange,
  FileRecord,
  FileVersion,
  FoundFile,
  KeptFile,
  KeptSize,
  WantedChange,
  WorkspaceFiles,
} from './file.ts';
import { listFiles, markWritten, readFile, readLogEnd } from './file-store.ts';
import { FolderWatch } from './folder-watch.ts';
import { KeptContents } from './kept-contents.ts';
import { KeyLocks } from './key-locks.ts';
import { flawOf, toPath } from './paths.ts';
import { contentMissing, fileNotFound, quotaExceeded, versionNotFound } from './file-faults.ts';
import { OldChanges } from './old-changes.ts';
import { PreparedChanges } from './prepared-changes.ts';
import { rescanFolder } from './rescan.ts';
import { cutWaves } from './waves.ts';
import type { Readable } from 'node:stream';
import type { ChangeOutcome } from './commit-plan.ts';

export interface StoredFilesOptions extends FileLogOptions {
  readonly blobs: Blobs;
  /** Fault `not_found` for one that is gone. */
  readonly placeOf: (workspaceId: string) => Promise<FilePlace>;
  /** Changes of a workspace that are kept. */
  readonly changesKept: number;
}

const lookMax = 500;

interface LookedAt {
  readonly changed: number;
  readonly faults: readonly (readonly [string, Fault])[];
}

/** Files on disk, with their log in SQL: the log is the truth, and the folder follows it. */
export class StoredFiles implements WorkspaceFiles, AsyncDisposable {
  readonly #options: StoredFilesOptions;
  readonly #parts: DiskNotesParts;
  readonly #locks = new KeyLocks();
  readonly #stamps = new DiskStamps();
  readonly #log: FileLog;
  readonly #written: Batch<{ readonly workspaceId: string; readonly seq: number }>;
  readonly #watch: FolderWatch;
  readonly #commits: FileCommits;
  readonly #queue: CommitQueue;
  readonly #kept: KeptContents;
  readonly #ready = new Map<string, Promise<void>>();
  readonly #old: OldChanges;

  constructor(options: StoredFilesOptions) {
    const { sql, blobs, log } = options;
    this.#options = options;
    this.#log = new FileLog(options);
    this.#parts = { sql, log: this.#log, blobs, stamps: this.#stamps };
    this.#written = createBatch({
      flush: (changes) => markWritten(sql, changes),
      maxItems: 1_000,
      maxDelayMs: 200,
      maxPending: 100_000,
    });
    this.#commits = new FileCommits({
      ...this.#parts,
      noteWritten: (change) => this.#noteWritten(change),
    });
    const { placeOf } = options;
    this.#queue = new CommitQueue({ locks: this.#locks, commits: this.#commits, placeOf });
    this.#kept = new KeptContents(options);
    this.#old = new OldChanges(options, this.#kept);
    this.#watch = new FolderWatch({
      log,
      rootOf: async (workspaceId) => (await options.placeOf(workspaceId)).folder.root,
      onPaths: (workspaceId, paths) => this.#lookAll(workspaceId, paths),
      onLost: (workspaceId) => this.rescan(workspaceId),
    });
  }

  async start(): Promise<void> {
    await this.#options.blobs.open();
    await this.#log.start();
    this.#kept.sweep();
  }

  async list(
    workspaceId: string,
    options: { readonly prefix?: string; readonly limit: number; readonly after?: string },
  ): Promise<readonly FileRecord[]> {
    await this.#open(workspaceId);
    return listFiles(this.#options.sql, workspaceId, options);
  }

  find(workspaceId: string, path: string): Promise<FileRecord | undefined> {
    return readFile(this.#options.sql, workspaceId, toPath(path));
  }

  async read(
    workspaceId: string,
    text: string,
    { hash }: { readonly hash?: string } = {},
  ): Promise<FoundFile> {
    const path = toPath(text);
    await this.#open(workspaceId);
    // What was changed in the folder a moment ago is what its reader wants.
    if (hash === undefined) {
      for (const [, fault] of (await this.#look(workspaceId, [path])).faults) throw fault;
    }
    const { sql, blobs } = this.#options;
    const record = await readFile(sql, workspaceId, path);
    if (hash === undefined) {
      if (!record) throw fileNotFound(path);
      return { record, open: (range) => blobs.read(record.hash, range) };
    }
    const [version] = await readVersions(sql, workspaceId, { path, hash, limit: 1 });
    if (!version) throw versionNotFound(path);
    const { size, seq, atMs } = version;
    const old = { path, hash, size, seq, modifiedAtMs: atMs, isExecutable: false };
    return { record: old, open: (range) => blobs.read(hash, range) };
  }

  async apply(workspaceId: string, wanted: WantedChange): Promise<AppliedChange> {
    const [outcome] = await this.applyAll(workspaceId, [wanted]);
    if (!outcome || outcome instanceof Fault) throw outcome ?? new Error('nothing was applied');
    return outcome;
  }

  async applyAll(
    workspaceId: string,
    wanted: readonly WantedChange[],
  ): Promise<readonly ChangeOutcome[]> {
    const place = await this.#open(workspaceId);
    const parts = { blobs: this.#options.blobs, kept: this.#kept };
    await using changes = await PreparedChanges.of(parts, place, wanted);
    const outcomes = await changes.store((items) => this.#queue.add(workspaceId, items));
    this.#old.forgetSometimes(workspaceId, outcomes);
    return outcomes;
  }

  async requireSize(workspaceId: string, bytes: number): Promise<void> {
    const { blobs, placeOf } = this.#options;
    blobs.requireSize(bytes);
    const { quotaBytes } = await placeOf(workspaceId);
    if (bytes > quotaBytes) throw quotaExceeded(quotaBytes);
  }

  async keep(workspaceId: string, content: Buffer | Readable, hash: string): Promise<KeptSize> {
    return this.#kept.keep(await this.#open(workspaceId), content, hash);
  }

  async kept(workspaceId: string, hashes: readonly string[]): Promise<Map<string, KeptFile>> {
    const { blobs } = this.#options;
    const sizes = await this.#kept.find(workspaceId, hashes);
    const entries = Array.from(sizes, ([hash, size]): [string, KeptFile] => [
      hash,
      { size, open: (range) => blobs.read(hash, range) },
    ]);
    return new Map(entries);
  }

  async readKept(workspaceId: string, hash: string): Promise<KeptFile> {
    const found = (await this.kept(workspaceId, [hash])).get(hash);
    if (!found) throw contentMissing(hash);
    return found;
  }

  versions(workspaceId: string, path: string, limit: number): Promise<readonly FileVersion[]> {
    return readVersions(this.#options.sql, workspaceId, { path: toPath(path), limit });
  }

  async changes(
    workspaceId: string,
    after: number,
    limit: number,
  ): Promise<readonly FileChange[] | undefined> {
    const { sql } = this.#options;
    const end = await readLogEnd(sql, workspaceId);
    if (!end) return after > 0 ? undefined : [];
    if (after < end.forgottenSeq || after > end.lastSeq) return undefined;
    return readChanges(sql, workspaceId, { after, limit });
  }

  async lastSeq(workspaceId: string): Promise<number> {
    return (await readLogEnd(this.#options.sql, workspaceId))?.lastSeq ?? 0;
  }

  async rescan(workspaceId: string): Promise<{ readonly changed: number; readonly files: number }> {
    const { folder } = await this.#open(workspaceId);
    return rescanFolder({
      folder,
      known: (after) => listFiles(this.#options.sql, workspaceId, { after, limit: 1_000 }),
      look: (paths) => this.#lookAll(workspaceId, paths),
    });
  }

  watch(workspaceId: string): () => void {
    return this.#watch.watch(workspaceId);
  }

  listen(listener: (change: FileChange) => void): () => void {
    return this.#log.listen(listener);
  }

  async usage(workspaceId: string): Promise<number> {
    return (await readLogEnd(this.#options.sql, workspaceId))?.usedBytes ?? 0;
  }

  async remove(workspaceId: string): Promise<void> {
    await this.#watch.end(workspaceId);
    await this.#locks.run(workspaceId, async () => {
      const unnamed = await deleteFiles(this.#options.sql, workspaceId);
      for (const hash of unnamed) await this.#kept.drop(hash);
      this.#old.remove(workspaceId);
      this.#ready.delete(workspaceId);
      this.#log.forget(workspaceId);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch[Symbol.asyncDispose]();
    await this.#kept[Symbol.asyncDispose]();
    await this.#written.close();
    await this.#log[Symbol.asyncDispose]();
  }

  /** Finishes, the first time, what a crash left between the log and the folder. */
  async #open(workspaceId: string): Promise<FilePlace> {
    const place = await this.#options.placeOf(workspaceId);
    const ready = this.#ready.get(workspaceId) ?? this.#finish(place);
    this.#ready.set(workspaceId, ready);
    try {
      await ready;
    } catch (error) {
      this.#ready.delete(workspaceId);
      throw error;
    }
    return place;
  }

  async #finish(place: FilePlace): Promise<void> {
    const { workspaceId } = place;
    const work = () => repair(this.#parts, this.#commits, place);
    const isDone = await this.#locks.run(workspaceId, work);
    if (isDone) return;
    // Not waited for, as it waits for this itself.
    void this.rescan(workspaceId).catch((err: unknown) => {
      this.#options.log.warn({ err, workspaceId }, 'a folder could not be compared after a crash');
    });
  }

  /** Notes what is new at some paths of the folder; answers at how many. */
  async #look(workspaceId: string, names: readonly string[]): Promise<LookedAt> {
    // Paths are kept in one form; a name in another, where the system tells them apart, is no path.
    const paths = names.map((name) => name.normalize('NFC')).filter((path) => !flawOf(path));
    const place = await this.#open(workspaceId);
    const faults: [string, Fault][] = [];
    let changed = 0;
    for (const wave of cutWaves(paths, (path) => [path], lookMax)) {
      const notes = await this.#locks.run(workspaceId, () => noteDisk(this.#parts, place, wave));
      changed += notes.changed.size;
      faults.push(...notes.faults);
    }
    return { changed, faults };
  }

  /** One file that cannot be noted keeps none of the others from it. */
  async #lookAll(workspaceId: string, names: readonly string[]): Promise<number> {
    const { changed, faults } = await this.#look(workspaceId, names);
    for (const [path, err] of faults) {
      if (err.code === 'unavailable' || err.code === 'not_found') throw err;
      this.#options.log.warn({ err, workspaceId, path }, 'a file of a folder is left out');
    }
    return changed;
  }

  /** One that is not noted is written once more after the next start. */
  #noteWritten(change: { readonly workspaceId: string; readonly seq: number }): void {
    this.#written.add(change).catch((err: unknown) => {
      this.#options.log.warn({ err }, 'what a folder holds could not be noted');
    });
  }
}

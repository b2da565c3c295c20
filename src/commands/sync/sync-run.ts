import { Fault } from '../../kit/errors.ts';
import { ignoreFile } from '../../studio/files/ignore-rules.ts';
import { sideBySide } from '../../studio/files/side-by-side.ts';
import type { RemoteFile, SentChange, SentOutcome } from './file-transfers.ts';
import type { StreamMessage } from './studio-access.ts';
import { SyncReceipts } from './sync-receipts.ts';
import type { SyncRunOptions, SyncCounts } from './sync-options.ts';
import { cutBatches, inlineBytesMax, isEqual, isLike, sizeHere, type Step } from './sync-steps.ts';
import type { BaseFile } from './sync-index.ts';

interface Remote {
  readonly seq: number;
  readonly size: number;
  /** Absent when it is deleted. */
  readonly file?: BaseFile;
}

const roundsMax = 10;
const chunkSize = 1_000;
/** While one is stored there the next is read here. */
const chunksAtOnce = 2;
const atOnce = 8;

/** Brings a folder and a workspace in step, each path by what both last agreed on. */
export class SyncRun {
  readonly counts: SyncCounts = {
    sent: 0,
    received: 0,
    deletedHere: 0,
    deletedThere: 0,
    conflicts: 0,
  };
  /** Paths that are not in step, with why. */
  readonly leftOut = new Map<string, string>();
  readonly #options: SyncRunOptions;
  readonly #receipts: SyncReceipts;
  readonly #remote = new Map<string, Remote>();
  #seenSeq = 0;
  #heardCount = 0;
  #isSettled = false;
  /** What is known of the workspace may be wrong. */
  #isStale = true;

  constructor(options: SyncRunOptions) {
    this.#options = options;
    this.#receipts = new SyncReceipts({
      ...options,
      counts: this.counts,
      attempt: (path, work) => this.#try(path, work),
      leaveOut: (path, error) => this.#leaveOut(path, error),
      onStale: () => {
        this.#isStale = true;
      },
    });
  }

  /** The newest change of the workspace that was heard of. */
  get seenSeq(): number {
    return this.#seenSeq;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  /** Whether all that is known was done, but for what is left out. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Compares everything, until nothing is left to do; false when that could not be reached. */
  async settleAll(): Promise<boolean> {
    const { folder, index, signal } = this.#options;
    this.#isSettled = false;
    for (let round = 0; round < roundsMax && !signal.aborted; round += 1) {
      await this.#list();
      this.leftOut.clear();
      const paths = new Set<string>();
      // The folder first: reading it reads its rules, too.
      for await (const { path, flaw } of folder.entries()) {
        if (flaw === undefined) paths.add(path);
        else this.leftOut.set(path, flaw);
      }
      for (const path of [...this.#remote.keys(), ...index.files.keys()]) {
        if (folder.isKept(path)) paths.add(path);
      }
      const doneCount = await this.settle([...paths]);
      if (doneCount === 0) return this.leftOut.size === 0 && !signal.aborted;
    }
    this.#isSettled = false;
    return false;
  }

  /** Brings paths in step; answers for how many there was something to do. */
  async settle(paths: readonly string[]): Promise<number> {
    const { folder, index, signal, onProgress } = this.#options;
    const kept = paths.filter((path) => folder.isKept(path)).toSorted();
    const chunks: string[][] = [];
    for (let at = 0; at < kept.length; at += chunkSize) chunks.push(kept.slice(at, at + chunkSize));
    let [doneCount, seenCount] = [0, 0];
    const heardCount = this.#heardCount;
    this.#isSettled = false;
    try {
      await sideBySide(chunks, chunksAtOnce, async (chunk) => {
        if (signal.aborted) return;
        doneCount += await this.#settleChunk(chunk);
        seenCount += chunk.length;
        if (doneCount === 0) return;
        onProgress(`${seenCount} of ${kept.length} files`);
        await index.save();
      });
    } finally {
      await index.save();
    }
    this.#isSettled = !signal.aborted && heardCount === this.#heardCount;
    return doneCount;
  }

  /** Notes what the stream tells; answers the path that it is about. */
  hear({ type, seq = 0, data }: StreamMessage): string | undefined {
    if (type === 'snapshot_required' || type === 'gap') this.#isStale = true;
    if (type !== 'file_change' || data?.path === undefined) return undefined;
    const { path } = data;
    this.#heardCount += 1;
    this.#isSettled = false;
    this.#seenSeq = Math.max(this.#seenSeq, seq);
    const knownSeq = this.#remote.get(path)?.seq ?? 0;
    if (knownSeq < seq) this.#remote.set(path, remoteOf(seq, data));
    // Other files may count now.
    if (path === ignoreFile) this.#isStale = true;
    return path;
  }

  async #list(): Promise<void> {
    const listed = await this.#options.files.list(this.#options.workspaceId);
    this.#isStale = false;
    this.#remote.clear();
    for (const { path, seq, size, hash, executable } of listed) {
      this.#remote.set(path, { seq, size, file: { hash, executable } });
      this.#seenSeq = Math.max(this.#seenSeq, seq);
    }
  }

  async #settleChunk(paths: readonly string[]): Promise<number> {
    const decided: Step[] = [];
    await sideBySide(paths, atOnce, (path) =>
      this.#try(path, async () => {
        const step = await this.#decide(path);
        if (step) decided.push(step);
      }),
    );
    const steps = (kind: Step['kind']) => decided.filter((one) => one.kind === kind);
    // Names that were given up make room for others.
    await this.#send(steps('send').filter(({ here }) => here.kind !== 'file'));
    await this.#send(steps('send').filter(({ here }) => here.kind === 'file'));
    await this.#receipts.take(steps('take'));
    const conflicts = steps('conflict');
    await sideBySide(conflicts, atOnce, (step) => this.#try(step.path, () => this.#part(step)));
    return decided.filter(({ path }) => !this.leftOut.has(path)).length;
  }

  /** What concerns one path alone leaves that one out. */
  async #try(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#leaveOut(path, error);
    }
  }

  #leaveOut(path: string, error: unknown): void {
    const why = reasonOf(error);
    if (why === undefined) throw error;
    this.leftOut.set(path, why);
  }

  /** Undefined: the path is in step. */
  async #decide(path: string): Promise<Step | undefined> {
    const here = await this.#options.folder.stateOf(path);
    if (here.kind === 'other') throw new Fault('invalid', here.why);
    const there = this.#remote.get(path)?.file;
    const base = this.#options.index.files.get(path);
    this.leftOut.delete(path);
    if (isLike(here, there)) {
      this.#options.index.note(path, there);
      return undefined;
    }
    const size = this.#remote.get(path)?.size ?? 0;
    const step = (kind: Step['kind']): Step => ({ kind, path, here, there, size });
    if (isLike(here, base)) return step('take');
    const isChangedThere = !isEqual(there, base);
    // An edit beats a deletion.
    if (here.kind === 'nothing' && isChangedThere) return step('take');
    if (!isChangedThere || !there) return step('send');
    return step('conflict');
  }

  /** Small contents go with their changes, large ones before them. */
  async #send(steps: readonly Step[]): Promise<void> {
    const { files, workspaceId, deviceId, signal } = this.#options;
    for (const batch of cutBatches(steps, sizeHere)) {
      if (signal.aborted) return;
      const changes: { readonly step: Step; readonly change: SentChange }[] = [];
      await sideBySide(batch, atOnce, (step) =>
        this.#try(step.path, async () => {
          const change = await this.#changeOf(step);
          if (change) changes.push({ step, change });
        }),
      );
      if (changes.length === 0) continue;
      const place = { workspaceId, deviceId };
      const sent = changes.map(({ change }) => change);
      const outcomes = await files.send(place, sent);
      for (const [at, { step }] of changes.entries()) this.#noteSent(step, outcomes[at]);
    }
  }

  async #changeOf({ path, here, there }: Step): Promise<SentChange | undefined> {
    const { files, folder, workspaceId } = this.#options;
    const expected = there?.hash ?? null;
    if (here.kind !== 'file') return { path, expected };
    const { executable, hash, size } = here;
    if (size <= inlineBytesMax) {
      const content = await folder.read(path);
      return content && { path, expected, executable, content };
    }
    try {
      await files.sendBlob(workspaceId, hash, () => folder.stream(path));
    } catch (error) {
      // It is being written: the next look sees what it has become.
      if (error instanceof Fault && error.reason === 'hash_mismatch') return undefined;
      throw error;
    }
    return { path, expected, executable, content: { hash } };
  }

  #noteSent({ path, here }: Step, outcome: SentOutcome | undefined): void {
    if (!outcome || outcome.kind === 'behind') this.#isStale = true;
    else if (outcome.kind === 'refused') this.leftOut.set(path, outcome.why);
    else {
      this.#agree(path, outcome.file);
      if (here.kind === 'file') this.counts.sent += 1;
      else this.counts.deletedThere += 1;
    }
  }

  /** Both were changed: the workspace's keeps the path, this folder's goes beside it, on both sides. */
  async #part(step: Step): Promise<void> {
    const { folder, deviceId } = this.#options;
    const { path, here, there } = step;
    // Only whether it can be executed differs.
    if (here.kind === 'file' && here.hash === there?.hash)
      return void (await this.#receipts.takeOne(step));
    const copy = await folder.copyAside(path, deviceId);
    if (copy === undefined) return;
    if (!(await this.#receipts.takeOne(step))) {
      // It was no conflict after all, or is a newer one: nothing is kept twice.
      await folder.remove(copy, here);
      return;
    }
    this.counts.conflicts += 1;
    const made = await this.#decide(copy);
    if (made) await this.#send([made]);
  }

  #agree(path: string, file: RemoteFile | undefined): void {
    this.#options.index.note(path, file);
    if (file) this.#remote.set(path, { seq: file.seq, size: file.size, file });
    else this.#remote.delete(path);
  }
}

function remoteOf(seq: number, data: NonNullable<StreamMessage['data']>): Remote {
  const { operation, hash = '', size = 0, executable = false } = data;
  return operation === 'delete' ? { seq, size } : { seq, size, file: { hash, executable } };
}

const ownFaults = new Set(['invalid', 'conflict', 'too_large']);

/** Why one file is left out; undefined for what concerns all. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof Fault) return ownFaults.has(error.code) ? error.message : undefined;
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : `it cannot be read or written here (${code})`;
}

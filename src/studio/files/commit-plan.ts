import { Fault } from '../../kit/errors.ts';
import type { Blob } from './blobs.ts';
import type { AppliedChange, FileRecord, WantedChange } from './file.ts';
import { quotaExceeded } from './file-faults.ts';
import type { FileState, NewChange } from './file-store.ts';
import type { StagedFile } from './workspace-folder.ts';

/** A wanted change whose content is held, and waits in the folder's own place. */
export interface PreparedChange {
  readonly wanted: WantedChange;
  /** Absent: the file is deleted. */
  readonly blob?: Blob;
  readonly staged?: string;
}

/** What came of one change, or why it was refused. */
export type ChangeOutcome = AppliedChange | Fault;

/** What is to become of a prepared change. */
export type Decision =
  | { readonly kind: 'answer'; readonly outcome: ChangeOutcome }
  | { readonly kind: 'remove'; readonly record: FileRecord }
  | { readonly kind: 'beside'; readonly record: FileRecord; readonly blob: Blob }
  | Write;

export interface Write {
  readonly kind: 'write';
  readonly path: string;
  readonly blob: Blob;
  readonly isExecutable: boolean;
  /** What the path holds. */
  readonly record?: FileRecord | undefined;
  /** Of a conflict copy: what keeps the path. */
  readonly winner?: FileRecord;
  readonly movedFrom?: FileRecord | undefined;
}

/** Decides a change by what its path holds. */
export function decide({ wanted, blob }: PreparedChange, state: FileState): Decision {
  const record = state.records.get(wanted.path);
  if (wanted.isStrict && !isMeant(wanted, record))
    return refused(changedSince(wanted.path, record));
  if (!blob) return decideRemoval(wanted, record, state);
  return decideWrite(wanted, blob, state);
}

function decideWrite(wanted: WantedChange, blob: Blob, { records }: FileState): Decision {
  const { path, movedFrom } = wanted;
  const record = records.get(path);
  const isExecutable = wanted.isExecutable ?? isRunnable(record);
  if (record?.hash === blob.hash && record.isExecutable === isExecutable) {
    return answer({ outcome: 'unchanged', seq: record.seq, record });
  }
  if (record && !isMeant(wanted, record)) return { kind: 'beside', record, blob };
  const from = movedFrom === undefined ? undefined : records.get(movedFrom);
  if (movedFrom !== undefined && from?.hash !== blob.hash) return refused(busy(movedFrom));
  return { kind: 'write', path, blob, isExecutable, record, movedFrom: from };
}

/** An edit beats a deletion. */
function decideRemoval(
  wanted: WantedChange,
  record: FileRecord | undefined,
  { end }: FileState,
): Decision {
  if (!record) return answer({ outcome: 'unchanged', seq: end.lastSeq });
  if (isMeant(wanted, record)) return { kind: 'remove', record };
  return answer({ outcome: 'conflict', seq: record.seq, record });
}

/** The changes of several decisions, with their places in the log and the room that they take. */
export class CommitPlan {
  readonly changes: NewChange[] = [];
  /** To be put in the folder once the changes are stored. */
  readonly files: StagedFile[] = [];
  /** To be deleted in the folder before. */
  readonly removals: string[] = [];
  /** To be deleted in the folder after. */
  readonly left: string[] = [];
  readonly outcomes = new Map<PreparedChange, ChangeOutcome>();
  readonly #quotaBytes: number;
  readonly #atMs = Date.now();
  #lastSeq: number;
  #usedBytes: number;

  constructor({ end }: FileState, quotaBytes: number) {
    this.#quotaBytes = quotaBytes;
    this.#lastSeq = end.lastSeq;
    this.#usedBytes = end.usedBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  remove(item: PreparedChange, { hash, path, size }: FileRecord): void {
    const nothing = { hash: undefined, size: 0, isExecutable: false, isOnDisk: true };
    const { seq } = this.#add(item, { path, baseHash: hash, ...nothing });
    this.#usedBytes -= size;
    this.removals.push(path);
    this.outcomes.set(item, { outcome: 'applied', seq });
  }

  /** Refuses what goes beyond the quota. */
  write(item: PreparedChange, write: Write): void {
    const { path, blob, isExecutable, record, winner, movedFrom } = write;
    const { hash, size } = blob;
    if (!this.#takeRoom(size - sizeOf(record) - sizeOf(movedFrom))) {
      this.outcomes.set(item, quotaExceeded(this.#quotaBytes));
      return;
    }
    if (movedFrom) this.#leave(item, movedFrom);
    const { seq, atMs: modifiedAtMs } = this.#add(item, {
      path,
      baseHash: record?.hash,
      hash,
      size,
      isExecutable,
      isOnDisk: false,
      ...(winner ? { conflictOf: item.wanted.path } : {}),
      movedFrom: movedFrom?.path,
    });
    this.files.push({ name: item.staged ?? '', path, isExecutable });
    const made = { path, hash, size, isExecutable, seq, modifiedAtMs };
    this.outcomes.set(
      item,
      winner
        ? { outcome: 'conflict', seq, record: winner, conflictCopy: made }
        : { outcome: 'applied', seq, record: made, isCreated: !record },
    );
  }

  #takeRoom(moreBytes: number): boolean {
    if (moreBytes > 0 && this.#usedBytes + moreBytes > this.#quotaBytes) return false;
    this.#usedBytes += moreBytes;
    return true;
  }

  #leave(item: PreparedChange, { path, hash }: FileRecord): void {
    const nothing = { hash: undefined, size: 0, isExecutable: false, isOnDisk: true };
    this.#add(item, { path, baseHash: hash, ...nothing, isMoved: true, opId: undefined });
    this.left.push(path);
  }

  #add(
    { wanted: { deviceId, opId } }: PreparedChange,
    change: Omit<NewChange, 'seq' | 'atMs' | 'deviceId' | 'opId' | 'conflictOf'> &
      Partial<Pick<NewChange, 'opId' | 'conflictOf'>>,
  ): NewChange {
    this.#lastSeq += 1;
    const common = { deviceId, opId, conflictOf: undefined, atMs: this.#atMs };
    const added = { ...common, ...change, seq: this.#lastSeq };
    this.changes.push(added);
    return added;
  }
}

function isRunnable(record: FileRecord | undefined): boolean {
  return record?.isExecutable ?? false;
}

function sizeOf(record: FileRecord | undefined): number {
  return record?.size ?? 0;
}

function answer(outcome: AppliedChange): Decision {
  return { kind: 'answer', outcome };
}

function refused(fault: Fault): Decision {
  return { kind: 'answer', outcome: fault };
}

/** Whether the device knew what the path holds, or does not care. */
function isMeant({ baseHash }: WantedChange, record: FileRecord | undefined): boolean {
  return baseHash === undefined || baseHash === (record?.hash ?? null);
}

function changedSince(path: string, record: FileRecord | undefined): Fault {
  return new Fault('conflict', 'the file has changed since', {
    reason: 'precondition_failed',
    status: 412,
    detail: { path, hash: record?.hash ?? null },
  });
}

function busy(path: string): Fault {
  return new Fault('conflict', `${path} is being changed by others`, {
    reason: 'file_busy',
    retryAfter: 1,
  });
}

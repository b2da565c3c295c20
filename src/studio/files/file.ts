import type { Readable } from 'node:stream';
import type { Fault } from '../../kit/errors.ts';

/** Whose hand changed a file: a device of a user, an agent, or `disk` for what was changed in the folder. */
export type DeviceId = string;

export interface FileRecord {
  /** Relative, POSIX, NFC. */
  readonly path: string;
  /** SHA-256 in hex. */
  readonly hash: string;
  readonly size: number;
  readonly isExecutable: boolean;
  /** Of the change that made it so. */
  readonly seq: number;
  readonly modifiedAtMs: number;
}

export type FileOperation = 'create' | 'update' | 'delete';

/** One entry of a workspace's log; `seq` is given by the server, strictly rising in the workspace. */
export interface FileChange {
  readonly workspaceId: string;
  readonly seq: number;
  readonly deviceId: DeviceId;
  readonly path: string;
  readonly operation: FileOperation;
  /** Absent for `create`. */
  readonly baseHash?: string;
  /** Absent for `delete`. */
  readonly hash?: string;
  readonly size: number;
  readonly isExecutable: boolean;
  readonly atMs: number;
  /** Of a conflict copy: the path that the loser wanted. */
  readonly conflictOf?: string;
}

/** Content that a file of the workspace is or was, or that was sent to it before. */
export interface KeptContent {
  /** SHA-256 in hex. */
  readonly kept: string;
}

/** What a device wants. */
export interface WantedChange {
  readonly deviceId: DeviceId;
  readonly path: string;
  /** The hash that the device changed, null for a file that it made; absent: whatever is there. */
  readonly baseHash?: string | null;
  /** Bytes, or what is kept already (`{kept: HASH}`). Absent: the file is deleted. */
  readonly content?: Buffer | Readable | KeptContent;
  /** Of the content, checked where given. */
  readonly hash?: string;
  readonly isExecutable?: boolean;
  /** A mismatch is `conflict` (`precondition_failed`), and nothing is kept beside. */
  readonly isStrict?: boolean;
  /** A second change of the device with the same id is the first one's; `conflict` (`op_reused`) if it differs. */
  readonly opId?: string;
  /** The file that goes on under this path; `conflict` (`file_busy`) unless it still holds the content. */
  readonly movedFrom?: string;
}

export interface AppliedChange {
  /** `unchanged`: it was so already; `conflict`: the server's version kept the path. */
  readonly outcome: 'applied' | 'unchanged' | 'conflict';
  readonly seq: number;
  /** The path held nothing before. */
  readonly isCreated?: boolean;
  /** What the path holds now; absent when it is deleted. */
  readonly record?: FileRecord;
  /** Where the loser of a conflict lies. */
  readonly conflictCopy?: FileRecord;
}

/** Bytes. */
export interface KeptSize {
  readonly size: number;
}

/** A version of a file that was. */
export interface FileVersion {
  readonly seq: number;
  readonly hash: string;
  readonly size: number;
  readonly deviceId: DeviceId;
  readonly atMs: number;
}

/** A file, or what it held, and its bytes: all, or from `start` to `end`, both included. */
export interface FoundFile {
  readonly record: FileRecord;
  readonly open: (range?: { readonly start: number; readonly end: number }) => Readable;
}

/** Content by its hash. */
export type KeptFile = KeptSize & Pick<FoundFile, 'open'>;

/**
 * The files of all workspaces: on disk below each one's path, their log and versions in SQL and a store by
 * hash. Paths outside, through symlinks, or that differ from another only by case are `invalid`
 * (`path_invalid`), too much is `too_large` (`quota_exceeded`). Access is the caller's matter.
 */
export interface WorkspaceFiles {
  list(
    workspaceId: string,
    options: { readonly prefix?: string; readonly limit: number; readonly after?: string },
  ): Promise<readonly FileRecord[]>;
  find(workspaceId: string, path: string): Promise<FileRecord | undefined>;
  /** What the file holds now, or held; `not_found` (`file_not_found`, `version_not_found`). */
  read(workspaceId: string, path: string, options?: { readonly hash?: string }): Promise<FoundFile>;
  /** Stored on disk and in the log before it resolves. */
  apply(workspaceId: string, wanted: WantedChange): Promise<AppliedChange>;
  /**
   * As `apply`, of up to 1,000 that are stored together; answers what came of each, with the Fault of what
   * was refused. Rejects where nothing could be stored at all.
   */
  applyAll(
    workspaceId: string,
    wanted: readonly WantedChange[],
  ): Promise<readonly (AppliedChange | Fault)[]>;
  /** Fault `too_large` of a content that the workspace could never take, before it is read. */
  requireSize(workspaceId: string, bytes: number): Promise<void>;
  /** Keeps content for changes to come, for a day; stored before it resolves. */
  keep(workspaceId: string, content: Buffer | Readable, hash: string): Promise<KeptSize>;
  /** Of some hashes those that a change may name as kept, with the contents. */
  kept(workspaceId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, KeptFile>>;
  /** Content that is kept; `not_found` (`content_missing`). */
  readKept(workspaceId: string, hash: string): Promise<KeptFile>;
  /** The newest first. */
  versions(workspaceId: string, path: string, limit: number): Promise<readonly FileVersion[]>;
  /** Behind `after`, oldest first; undefined when so old ones are no longer kept. */
  changes(
    workspaceId: string,
    after: number,
    limit: number,
  ): Promise<readonly FileChange[] | undefined>;
  lastSeq(workspaceId: string): Promise<number>;
  /** Compares the folder with what is known of it, and notes what was changed on disk. */
  rescan(workspaceId: string): Promise<{ readonly changed: number; readonly files: number }>;
  /** Has what is changed in the folder noted as it happens, until the answer is called. */
  watch(workspaceId: string): () => void;
  /** Told of each change on every replica, in order of seq. */
  listen(listener: (change: FileChange) => void): () => void;
  /** Bytes that its files take now. */
  usage(workspaceId: string): Promise<number>;
  /** Forgets and deletes everything of a workspace. */
  remove(workspaceId: string): Promise<void>;
}

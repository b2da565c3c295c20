import type { SyncFolder } from './sync-folder.ts';
import type { FileTransfers } from './file-transfers.ts';
import type { SyncIndex } from './sync-index.ts';

export interface SyncRunOptions {
  readonly files: Pick<FileTransfers, 'list' | 'read' | 'send' | 'sendBlob' | 'readMany'>;
  readonly folder: SyncFolder;
  readonly index: SyncIndex;
  readonly workspaceId: string;
  readonly deviceId: string;
  /** Nothing new is begun once it is aborted. */
  readonly signal: AbortSignal;
  readonly onProgress: (step: string) => void;
}

/** What was done so far, in files. */
export interface SyncCounts {
  sent: number;
  received: number;
  deletedHere: number;
  deletedThere: number;
  conflicts: number;
}

/** Who gives and who takes: `push` changes the CMS only, `pull` the registry only. */
export const syncModes = ['bidirectional', 'push', 'pull'] as const;
export type SyncMode = (typeof syncModes)[number];

export type Side = 'registry' | 'cms';

/** A field that both sides changed, or that only the one changed that does not own it. */
export interface SyncConflict {
  readonly name: string;
  readonly connectionId: string;
  readonly recordId: string;
  /** `presence` when one side removed what the other changed. */
  readonly field: string;
  readonly owner: Side;
  /** `kept`: each side keeps what it has. `owner`: the owner's value replaced the other. */
  readonly resolution: 'kept' | 'owner';
  readonly registry?: unknown;
  readonly cms?: unknown;
}

export interface SyncError {
  readonly stage: 'list' | 'create' | 'update' | 'remove' | 'bundles' | 'health';
  readonly side: Side;
  readonly name?: string;
  readonly code: string;
  readonly message: string;
}

export interface SyncChange {
  readonly action: 'create' | 'link' | 'update' | 'remove';
  readonly side: Side | 'both';
  readonly name: string;
  readonly connectionId?: string;
  readonly recordId?: string;
  readonly fields?: readonly string[];
}

/** What a sync did, or in a dry run would do. */
export interface SyncResult {
  readonly syncId: string;
  readonly direction: SyncMode;
  readonly created: number;
  readonly updated: number;
  readonly removed: number;
  readonly conflicts: readonly SyncConflict[];
  readonly errors: readonly SyncError[];
  readonly changes: readonly SyncChange[];
  readonly dryRun: boolean;
}

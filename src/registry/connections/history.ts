/** A change of a connection on its way into its history. */
export interface HistoryNote {
  readonly id: string;
  readonly atMs: number;
  readonly change: string;
  /** The subject who asked for it; absent for what the registry does by itself. */
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

/** A change as the table has it. */
export interface HistoryEntry {
  readonly atMs: number;
  readonly change: string;
  readonly by: string | null;
  readonly reason: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

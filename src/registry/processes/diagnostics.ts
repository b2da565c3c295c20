/** What is done to keep a process within bounds; `none` is said where nothing is. */
export interface ProcessBounds {
  readonly sandbox: 'none' | 'bwrap';
  /** Each limit that is in force, by its name. */
  readonly limits: Readonly<Record<string, number>>;
}

/** A server's process as the system sees it now, summed over it and its descendants. */
export interface ProcessDiagnostics {
  /** Null for a connection that is no process of this host. */
  readonly processRunning: boolean | null;
  readonly pid?: number;
  readonly processes?: number;
  /** Such as `107 MB`. */
  readonly memoryUsage?: string;
  readonly memoryBytes?: number;
  /** Such as `1.5%`, of one core, since the question before or over 100 ms. */
  readonly cpuUsage?: string;
  readonly cpuPercent?: number;
  readonly startedAt?: string;
  readonly sandbox?: ProcessBounds['sandbox'];
  readonly limits?: ProcessBounds['limits'];
  /** The end of what it, or the last one, wrote to standard error; its secrets masked. */
  readonly stderr?: string;
  /** The same of what of its standard output was no MCP. */
  readonly stdout?: string;
  /** How the last process ended, when none is running. */
  readonly lastEnd?: string;
}

/** `107 MB`, in units of 1,048,576 bytes as the tools of the system show them. */
export function formatMemory(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`;
}

/** `1.5%`. */
export function formatShare(percent: number): string {
  return `${Math.round(percent * 10) / 10}%`;
}

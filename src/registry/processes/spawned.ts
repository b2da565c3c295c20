import type { Transport } from '@modelcontextprotocol/client';
import type { Approval, StdioEndpoint } from '../connections/connection.ts';
import type { ProcessDiagnostics } from './diagnostics.ts';

/** The part of a connection that running its command needs. */
export interface SpawnOrder {
  readonly id: string;
  readonly endpoint: StdioEndpoint;
  /** Absent: nobody who may run commands has agreed; it is refused. */
  readonly approval?: Approval | undefined;
}

export interface SpawnOptions {
  /** Gives up waiting; a process that was already begun is ended. */
  readonly signal?: AbortSignal | undefined;
}

/** A running server process and the way to speak with it. */
export interface SpawnedServer {
  /**
   * Already spawned; `start()` begins to hand on its messages. `close()` resolves when the process
   * and all its descendants are gone. A failure reaches `onerror` as a Fault, before `onclose`.
   */
  readonly transport: Transport;
  readonly pid: number;
  /** Resolves when the process and all its descendants are gone; the Fault tells why, unless closed. */
  readonly ended: Promise<Error | undefined>;
  diagnostics(): Promise<ProcessDiagnostics>;
}

/**
 * Runs the command of a stdio connection. Faults: `forbidden` (`approval_required`,
 * `command_not_allowed`), `unavailable` (`spawn_failed`, `restarting_too_often`, `too_many_processes`),
 * `cancelled`. A process that the connection still has is ended first.
 */
export type SpawnServer = (order: SpawnOrder, options?: SpawnOptions) => Promise<SpawnedServer>;

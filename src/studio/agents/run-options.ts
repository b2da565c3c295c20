import type { RunningProgram } from '../runtimes/runtime.ts';
import type { EntryOptions } from './agent-entry.ts';
import type { AgentLogs } from './agent-logs.ts';
import type { AgentKey } from './credentials.ts';
import type { Presence } from './presence.ts';
import type { StartSettings } from './program-start.ts';

export interface RunOptions extends EntryOptions {
  readonly logs: AgentLogs;
  readonly presence: Presence;
  readonly settings: StartSettings;
  readonly startTimeoutMs: number;
  /** Between being asked to end and being ended. */
  readonly stopGraceMs: number;
  /** Before the first restart; each further one waits twice as long, at most a minute. */
  readonly restartMs: number;
}

/** How a run comes by its program. */
export type Beginning =
  | {
      readonly kind: 'new';
      readonly key: AgentKey;
      /** Waits to be told who it is; undefined when there is none after all. */
      readonly program?: Promise<RunningProgram | undefined> | undefined;
    }
  | { readonly kind: 'claimed'; readonly isStray: boolean };

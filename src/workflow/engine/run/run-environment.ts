import type { Log } from '../../../kit/log.ts';
import type { Tracer } from '../../../kit/trace/trace.ts';
import type { Children } from '../children.ts';
import type { Clock } from '../clock.ts';
import type { EndFacts } from '../ends.ts';
import type { EngineMetrics } from '../engine-metrics.ts';
import type { EventHub } from '../events.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import type { Journal } from '../journal/journal.ts';
import type { Turns } from '../replicas/turns.ts';

/** How this process's part in an execution ended. */
export type RunOver =
  | { readonly kind: 'ended'; readonly stored: StoredExecution; readonly facts: EndFacts }
  | { readonly kind: 'parked'; readonly wakeAtMs: number | undefined }
  /** Others have it, or `mustRelease`: it could not be written and has to be given back. */
  | { readonly kind: 'lost'; readonly mustRelease: boolean };

/** What runs have in common. */
export interface RunEnvironment {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly log: Log;
  readonly metrics: EngineMetrics;
  readonly events: EventHub;
  /** Nodes of one execution that run at once. */
  readonly nodesMax: number;
  /** Nodes of one execution in all, each round of a loop counted. */
  readonly nodeRunsMax: number;
  /** Of the event loop, shared by all runs. */
  readonly turns: Turns;
  readonly callerToken: (stored: StoredExecution) => Promise<string | undefined>;
  /** When the end of an execution is told again unless it was told; undefined: nobody has to know. */
  readonly tellAtMs: (stored: StoredExecution, facts: EndFacts) => number | undefined;
  readonly children: Pick<Children, 'settle' | 'drop'>;
}

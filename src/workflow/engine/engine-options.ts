import type { Bus } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import type { Metrics } from '../../kit/metrics.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import type { Clock } from './clock.ts';
import type { PlanSource } from './execution.ts';
import type { EngineSql } from './journal/journal-store.ts';
import type { EngineSealer } from './journal/output-secrets.ts';

export interface EngineOptions {
  readonly sql: EngineSql;
  readonly bus: Bus;
  readonly plans: PlanSource;
  readonly sealer: EngineSealer;
  readonly tracer: Tracer;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'counter' | 'histogram' | 'gauge'>;
  /** Nobody else can have the database open (PGlite), so that whoever ran executions before is dead. */
  readonly isAlone: boolean;
  /** Executions that run at once in this process; 200 unless told. */
  readonly concurrency?: number;
  /** Nodes of one execution that run at once; 32 unless told. */
  readonly nodesMax?: number;
  /** Nodes of one execution in all, each round of a loop counted; 100,000 unless told. */
  readonly nodeRunsMax?: number;
  readonly clock?: Clock;
  /** How often this replica says that it lives; 2 s unless told. */
  readonly beatMs?: number;
  /** After how long without that its executions are taken over; 10 s unless told. */
  readonly silenceMs?: number;
  /** Milliseconds that the process still has when it stops; without end unless told. */
  readonly graceMs?: (() => number) | undefined;
  /** How long ended executions are kept; 30 days unless told. */
  readonly retentionMs?: number;
}

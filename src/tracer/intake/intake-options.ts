import type { Database } from '../../kit/database/database.ts';
import type { Log } from '../../kit/log.ts';
import type { IntakeSettings } from './messages.ts';
import type { TraceEvent } from './writes.ts';

export interface IntakeOptions extends Omit<IntakeSettings, 'owesRows'> {
  readonly database: Database;
  /** Has the partitions of today ready. */
  readonly readyPartitions: () => Promise<void>;
  readonly log: Log;
  /** Bytes of exports that may wait for their answers. */
  readonly queuedBytesMax: number;
  /** Told of traces that are complete, once that is stored. */
  readonly onComplete: (events: readonly TraceEvent[]) => void;
}

/** What intake is doing now. */
export interface IntakeState {
  readonly openTraces: number;
  readonly openSpans: number;
  /** Exports that wait for their answers. */
  readonly queuedExports: number;
}

import type { Clock } from './clock.ts';
import type { NodeError } from './execution.ts';
import type { History } from './recovery.ts';
import type { RunJournal } from './run-journal.ts';
import type { RunLimits } from './run-limits.ts';
import type { Walk } from './walk.ts';

/** What the outcomes of the nodes of one run go to. */
export interface OutcomeParts {
  readonly clock: Clock;
  readonly history: History;
  readonly walk: Walk;
  readonly limits: RunLimits;
  readonly journal: RunJournal;
  /** Nothing further begins until what was said is stored. */
  readonly raiseBarrier: (onStored?: () => void) => void;
  readonly children: Readonly<Record<'settle' | 'cancel', () => void>>;
  readonly endFailed: (error: NodeError, isRetryable: boolean) => void;
  /** A parked node went on by itself. */
  readonly onWoken: () => void;
}

import type { Usage } from '../../components/component.ts';
import type { Clock } from '../clock.ts';
import type { NodeError } from '../execution.ts';
import type { NodeFailure } from './node-failure.ts';
import type { History } from './recovery.ts';
import type { RunJournal } from './run-journal.ts';
import type { RunLimits } from './run-limits.ts';
import type { Walk } from '../walk/walk.ts';

/** A node that failed. */
export interface Failed {
  readonly failure: NodeFailure;
  readonly attempt: number;
  /** Of all attempts. */
  readonly usage?: Usage | undefined;
}

/** The last attempt of a node that ended. */
export type Last = Pick<Failed, 'attempt'> & {
  /** What those before it used. */
  readonly spent?: Usage | undefined;
};

/** What the outcomes of the nodes of one run go to. */
export interface OutcomeParts {
  readonly clock: Clock;
  readonly history: History;
  readonly walk: Walk;
  readonly limits: RunLimits;
  readonly journal: RunJournal;
  /** Nothing further begins until what was said is stored. */
  readonly raiseBarrier: (onStored?: () => void) => void;
  /** Tells nodes that wait for executions within if those have ended already. */
  readonly settleChildren: () => void;
  readonly endFailed: (error: NodeError, isRetryable: boolean) => void;
  /** A parked node went on by itself. */
  readonly onWoken: () => void;
}

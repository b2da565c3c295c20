import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { readAbandonedChildren, readChildren, type ChildrenOf } from './children-store.ts';
import { answerOf } from './ends.ts';
import type { Engine } from './execution.ts';
import type { SignalPlace } from './journal/executions-store.ts';
import type { EngineSql } from './journal/journal-store.ts';

export interface ChildrenParts {
  readonly sql: EngineSql;
  readonly log: Log;
  readonly cancel: Engine['cancel'];
  readonly signal: (at: SignalPlace, answer: ReturnType<typeof answerOf>) => Promise<boolean>;
}

/** The executions within others. */
export class Children {
  readonly #parts: ChildrenParts;

  constructor(parts: ChildrenParts) {
    this.#parts = parts;
  }

  /** Cancels and answers those that nobody waits for any more; `by` is the execution around them unless told. */
  async cancelAbandoned(children: ChildrenOf, by?: string): Promise<ReadonlySet<string>> {
    const abandoned = await readAbandonedChildren(this.#parts.sql, children);
    for (const { id, parentId } of abandoned) {
      try {
        await this.#parts.cancel(id, by ?? parentId);
      } catch (error) {
        if (Fault.from(error).reason !== 'already_ended') throw error;
      }
    }
    return new Set(abandoned.map(({ id }) => id));
  }

  /** As `cancelAbandoned`, while the execution around them goes on; what fails is done at its end. */
  async drop(executionId: string): Promise<void> {
    try {
      await this.cancelAbandoned({ parentId: executionId });
    } catch (error) {
      this.#parts.log.warn({ err: error, executionId }, 'executions within were not cancelled');
    }
  }

  /** One may have ended before the node that waits for it was stored. */
  async settle(executionId: string): Promise<void> {
    const { sql, log, signal } = this.#parts;
    try {
      for (const child of await readChildren(sql, executionId)) {
        const { parent } = child.request;
        if (child.completedAtMs === undefined || !parent) continue;
        await signal({ ...parent, childId: child.id }, answerOf(child));
      }
    } catch (error) {
      log.warn({ err: error, executionId }, 'ended executions within were not read');
    }
  }
}

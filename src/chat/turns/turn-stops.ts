import type { Conversations } from '../conversations/conversation.ts';
import { closeCalls, endOf } from './orphans.ts';
import type { RunningTurns } from './running-turns.ts';
import type { Turn, Turns } from './turn.ts';
import { readFeed } from './turn-feed.ts';
import { isEnd, type WholeEvent } from './turn-log.ts';
import type { StoredTurn } from './turn-row.ts';
import { changeWaiting, isId, markStopping, readTurn, type TurnSql } from './turns-store.ts';

export interface TurnStopsOptions {
  readonly sql: TurnSql;
  readonly running: RunningTurns;
  readonly conversations: Pick<Conversations, 'append'>;
}

type Which = Parameters<Turns['stop']>[1];

const stopWaitMs = 5_000;

/** Ends turns as their owners want, wherever they run or wait. */
export class TurnStops {
  readonly #options: TurnStopsOptions;

  constructor(options: TurnStopsOptions) {
    this.#options = options;
  }

  /** False when nothing was stopped: there is none, or it had ended before the stop reached it. */
  async stop(ownerId: string, which: Which): Promise<boolean> {
    const { sql, running } = this.#options;
    const run =
      'turnId' in which ? running.get(which.turnId) : running.findIn(ownerId, which.conversationId);
    if (run?.record.turn.ownerId === ownerId) {
      await run.stop();
      return this.#isStopped(run.record.turn);
    }
    if (!isId('turnId' in which ? which.turnId : which.conversationId)) return false;
    const stored = await markStopping(sql, ownerId, which);
    if (!stored) return false;
    if (stored.turn.status === 'waiting') return this.#stopWaiting(stored);
    running.tellStop(stored.turn.id);
    await this.#untilHeard(stored);
    const over = await readTurn(sql, stored.turn.id, ownerId);
    return over === undefined || this.#isStopped(over.turn);
  }

  /** What came of a stop: the turn may have ended just before it, or begun to wait for its user. */
  #isStopped({ id, ownerId, status }: Turn): Promise<boolean> | boolean {
    if (status === 'waiting') return this.stop(ownerId, { turnId: id });
    // One that still runs by its record is stopped, and only its end is not stored yet.
    return status === 'stopped' || status === 'running';
  }

  async #stopWaiting(stored: StoredTurn): Promise<boolean> {
    const { sql, running, conversations } = this.#options;
    const { calls, turn } = stored;
    using held = await running.feeds.hold(turn.id);
    const end = endOf(stored, 'stopped', held.feed.log.usageOfCalls);
    // A union's spread loses which member it is.
    const last = { ...end, seq: stored.lastSeq + 1 } as WholeEvent;
    const { replica } = running;
    const change = { stored, status: 'stopped', calls, entries: [last], replica } as const;
    const isOurs = await changeWaiting(sql, change);
    // Its user has answered meanwhile: it runs again, and hears of the stop.
    if (!isOurs) return this.stop(turn.ownerId, { turnId: turn.id });
    running.tell({ turn: { ...turn, status: 'stopped' }, entries: [last] });
    await closeCalls(conversations, stored);
    return true;
  }

  /** Until it has ended or waits for its user. */
  async #untilHeard({ turn, lastSeq }: StoredTurn): Promise<void> {
    using held = await this.#options.running.feeds.hold(turn.id);
    const signal = AbortSignal.timeout(stopWaitMs);
    for await (const event of readFeed(held.feed, lastSeq, signal)) {
      if (isEnd(event) || (event.type === 'tool-call' && event.needsApproval)) return;
    }
  }
}

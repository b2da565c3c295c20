import type { Turn, Turns } from '../turns/turn.ts';
import { Notice } from './notice.ts';
import type { Tab } from './tab.ts';
import { placeOf, turnNotice } from './turn-notices.ts';

export interface ReplayOptions {
  readonly turns: Pick<Turns, 'follow'>;
  /** From where on it is told again; the socket drops what it has behind that. */
  readonly after: number;
}

/**
 * Tells one socket a turn's events again, as fast as it takes them, and then those that come until the
 * turn has ended; never rejects. While it does, the socket hears of that turn in no other way.
 */
export async function replayTurn(
  tab: Tab,
  turn: Turn,
  { turns, after }: ReplayOptions,
): Promise<void> {
  const signal = tab.beginReplay(turn.id);
  let seen = after;
  try {
    await tellSurely(tab, Notice.of('resumed', { id: turn.id, after }), signal);
    let place = placeOf(turn, turn);
    for await (const event of turns.follow(turn, after, signal)) {
      if (event.type === 'begun') place = placeOf(turn, event);
      const notice = turnNotice(turn, place, event);
      if (notice) await tellSurely(tab, notice, signal);
      seen = event.seq;
    }
  } catch {
    if (!signal.aborted) tab.tell(failureNotice(turn, seen));
  } finally {
    tab.endReplay(turn.id, signal);
  }
}

async function tellSurely(tab: Tab, notice: Notice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !tab.push(notice)) await tab.room();
}

/** What the replay did not bring is a gap like any other. */
function failureNotice(turn: Turn, seen: number): Notice {
  return Notice.of('gap', { id: turn.id, from: seen + 1, to: seen + 1 });
}

import type { TurnEvent, Turns } from '../turns/turn.ts';

/** Told of the turns that were begun here, each time once. Times are from when the question came. */
export interface TurnSight {
  /** It never began. */
  refused(): void;
  firstToken(seconds: number): void;
  ended(event: Extract<TurnEvent, { type: 'ended' | 'failed' }>, seconds: number): void;
}

interface Begun {
  readonly at: number;
  hasToken: boolean;
}

/** More than a replica works on; those that wait for their user's approval for ever must go. */
const begunMax = 10_000;

/**
 * The same turns, watched. Every replica hears of a turn's end: the one on which it was begun counts
 * it, wherever it ended.
 */
export function measureTurns(turns: Turns, sight: TurnSight): Turns {
  const begun = new Map<string, Begun>();
  turns.listen(({ id }, event) => {
    const turn = begun.get(id);
    if (!turn) return;
    if (event.type === 'delta' && !turn.hasToken) {
      turn.hasToken = true;
      sight.firstToken(secondsSince(turn.at));
    }
    if (event.type !== 'ended' && event.type !== 'failed') return;
    begun.delete(id);
    sight.ended(event, secondsSince(turn.at));
  });
  return {
    begin: async (request) => {
      const at = performance.now();
      const turn = await turns.begin(request).catch((error: unknown) => {
        sight.refused();
        throw error;
      });
      // The request of a turn that was begun before came again.
      if (begun.has(turn.id) || turn.status !== 'running') return turn;
      keepAtMost(begun, begunMax - 1);
      begun.set(turn.id, { at, hasToken: false });
      return turn;
    },
    find: (...given) => turns.find(...given),
    follow: (...given) => turns.follow(...given),
    stop: (...given) => turns.stop(...given),
    approve: (...given) => turns.approve(...given),
    listen: (...given) => turns.listen(...given),
  };
}

function secondsSince(at: number): number {
  return (performance.now() - at) / 1000;
}

/** Those that came first go first. */
function keepAtMost(kept: Map<string, unknown>, most: number): void {
  for (const id of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(id);
  }
}

import { picodollarsOf } from '../../kit/prices/pricing.ts';
import type { Usage } from '../conversation/answer.ts';
import type { Target } from '../providers/provider.ts';
import type { Screen, TaskWish } from './screening.ts';

/** From so many targets on, only the most promising are looked at closely. */
export const manyTargets = 32;
/** Enough for every attempt that a request is worth, and for some that may not be asked now. */
const shortlistLength = 16;

export interface ShortlistOptions {
  readonly screen: Screen;
  readonly wish: TaskWish;
  readonly strategy: 'cost' | 'quality';
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface Entry {
  readonly target: Target;
  readonly priority: number;
  readonly key: number;
}

/** Those that the strategy puts first, of those that can take the request at all. */
export function shortlist(targets: readonly Target[], options: ShortlistOptions): Target[] {
  const { screen, wish, strategy, inputTokens, outputTokens } = options;
  const usage = { inputTokens, outputTokens };
  const best: Entry[] = [];
  for (const target of targets) {
    const key = strategy === 'cost' ? costOf(target, usage) : -target.model.quality;
    const entry = { target, priority: target.provider.priority, key };
    const last = best[shortlistLength - 1];
    if (last && !isBefore(entry, last)) continue;
    if (screen.fits(target, wish)) insert(best, entry);
  }
  return best.map(({ target }) => target);
}

/** Puts an entry where it belongs, behind its equals, and drops what is too much. */
function insert(best: Entry[], entry: Entry): void {
  const at = best.findIndex((one) => isBefore(entry, one));
  best.splice(at < 0 ? best.length : at, 0, entry);
  if (best.length > shortlistLength) best.pop();
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.priority === b.priority ? a.key < b.key : a.priority < b.priority;
}

/** What nobody knows the price of counts as endless. */
function costOf({ model }: Target, usage: Usage): number {
  return model.isPriceUnknown ? Number.POSITIVE_INFINITY : picodollarsOf(usage, model.prices);
}

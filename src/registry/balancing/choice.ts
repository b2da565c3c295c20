import type { Candidate } from './candidate.ts';
import { hashOf, mix } from './hash.ts';
import type { Rotation } from './rotation.ts';
import type { Strategy } from './strategy.ts';

/** Those among whom is chosen. */
export interface Pool {
  /** In the order of their ids. */
  readonly candidates: readonly Candidate[];
  /** The same in an array whose order means nothing and that may be changed. */
  readonly drawable: () => Candidate[];
  /** The least and the greatest weight of a candidate. */
  readonly weights: () => Weights;
  readonly rotation: Pick<Rotation, 'next'>;
}

export interface Weights {
  readonly min: number;
  readonly max: number;
  /** When the last one gets all of its share, milliseconds since the epoch. */
  readonly grownAtMs: number;
}

export interface Choosing {
  readonly strategy: Strategy;
  /** What `consistent-hash` sends to the same connection again and again. */
  readonly key: string;
  readonly limit: number;
  readonly nowMs: number;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/** Chooses different candidates, the best first; at most as many as there are. */
export function choose(pool: Pool, choosing: Choosing): Candidate[] {
  return choosers[choosing.strategy](pool, choosing);
}

type Chooser = (pool: Pool, choosing: Choosing) => Candidate[];

const choosers: Readonly<Record<Strategy, Chooser>> = {
  'power-of-two': (pool, choosing) => draw(pool, choosing, occupation),
  latency: (pool, choosing) => draw(pool, choosing, latencyScore),
  'round-robin': ({ rotation, candidates }, { limit, nowMs }) =>
    rotation.next(candidates, limit, nowMs),
  'least-loaded': ({ candidates, weights }, { limit, nowMs, random }) => {
    const { min, max } = weights();
    const scoreOf = (one: Candidate) =>
      min === max ? occupation(one, nowMs) : loadScore(one, nowMs, random);
    // From anywhere, so that equals are chosen by chance.
    return leastOf(rotated(candidates, random()), limit, scoreOf);
  },
  'consistent-hash': ({ candidates, weights }, { limit, key }) => {
    const hash = hashOf(key);
    const { min, max } = weights();
    // Of equal weights the logarithm changes no order.
    const scoreOf = (one: Candidate) => (min === max ? mix(hash, one.hash) : hashScore(one, hash));
    return leastOf(candidates, limit, scoreOf);
  },
};

/** Requests that run, by what the candidate can take. */
function occupation(candidate: Candidate, nowMs: number): number {
  if (candidate.active === 0) return 0;
  return candidate.active / (candidate.capacity * candidate.weightAt(nowMs));
}

/** How long a further request would take; one not measured yet is tried, one request at a time. */
function latencyScore(candidate: Candidate, nowMs: number): number {
  const { active, meter } = candidate;
  const latencyMs = meter.latencyMs(nowMs);
  if (latencyMs === undefined) return active === 0 ? 0 : Number.MAX_VALUE;
  return ((active + 1) * latencyMs) / candidate.weightAt(nowMs);
}

/** By occupation too; among equally loaded ones chance decides, by weight. */
function loadScore(candidate: Candidate, nowMs: number, random: () => number): number {
  const weight = candidate.weightAt(nowMs);
  return candidate.active / (candidate.capacity * weight) + (exponential(random()) / weight) * 1e-9;
}

/** Weighted rendezvous: a key moves only when its own connection goes or a better one comes. */
function hashScore({ hash, weight }: Candidate, keyHash: number): number {
  return exponential(mix(keyHash, hash)) / weight;
}

function exponential(uniform: number): number {
  return -Math.log(1 - uniform);
}

/** The same candidates from a place on, as a share of all. */
function* rotated(candidates: readonly Candidate[], share: number): Generator<Candidate> {
  const start = Math.floor(share * candidates.length);
  for (let step = 0; step < candidates.length; step += 1) {
    const candidate = candidates[(start + step) % candidates.length];
    if (candidate) yield candidate;
  }
}

/** Those with the least scores in order, in one pass, which ends where none can be less. */
function leastOf(
  candidates: Iterable<Candidate>,
  limit: number,
  scoreOf: (candidate: Candidate) => number,
): Candidate[] {
  const chosen: Candidate[] = [];
  const scores: number[] = [];
  let worst = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const score = scoreOf(candidate);
    if (chosen.length === limit && score >= worst) continue;
    const at = placeAmong(scores, score);
    if (chosen.length === limit) {
      chosen.pop();
      scores.pop();
    }
    chosen.splice(at, 0, candidate);
    scores.splice(at, 0, score);
    worst = scores.at(-1) ?? worst;
    if (chosen.length === limit && worst === 0) break;
  }
  return chosen;
}

/** Behind all scores that are not greater. */
function placeAmong(scores: readonly number[], score: number): number {
  let from = 0;
  let to = scores.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((scores[middle] ?? 0) <= score) from = middle + 1;
    else to = middle;
  }
  return from;
}

interface Chance extends Pick<Choosing, 'nowMs' | 'random'> {
  readonly weightMax: number;
  /** All weigh the same by now, so that nobody need be asked. */
  readonly isEven: boolean;
}

/** Of two random ones the better each time; those chosen move to the front of `from`. */
function draw(
  { drawable, weights }: Pool,
  { limit, nowMs, random }: Choosing,
  scoreOf: (candidate: Candidate, nowMs: number) => number,
): Candidate[] {
  const from = drawable();
  const { min, max, grownAtMs } = weights();
  const isEven = min === max && grownAtMs <= nowMs;
  const chance = { weightMax: max, isEven, nowMs, random };
  const chosen: Candidate[] = [];
  const count = Math.min(limit, from.length);
  for (let at = 0; at < count; at += 1) {
    const place = drawBetter(from, { at, chance, scoreOf });
    const best = from[place];
    const first = from[at];
    if (!best || !first) break;
    from[place] = first;
    from[at] = best;
    chosen.push(best);
  }
  return chosen;
}

interface Drawing {
  readonly at: number;
  readonly chance: Chance;
  readonly scoreOf: (candidate: Candidate, nowMs: number) => number;
}

/** The place of the better of two from `at` on. */
function drawBetter(from: readonly Candidate[], { at, chance, scoreOf }: Drawing): number {
  const { nowMs } = chance;
  const one = drawOne(from, at, chance);
  const a = from[one];
  const score = a ? scoreOf(a, nowMs) : 0;
  // Nobody is better than who has nothing to do: most reading is spared where many are idle.
  if (score === 0) return one;
  const other = drawOther(from, { at, one }, chance);
  const b = from[other];
  return b && scoreOf(b, nowMs) < score ? other : one;
}

const triesMax = 16;

/** A place from `at` on, by weight. */
function drawOne(
  from: readonly Candidate[],
  at: number,
  { weightMax, isEven, nowMs, random }: Chance,
): number {
  const rest = from.length - at;
  if (isEven) return at + Math.floor(random() * rest);
  let place = at;
  for (let tries = 0; tries < triesMax; tries += 1) {
    place = at + Math.floor(random() * rest);
    const weight = from[place]?.weightAt(nowMs) ?? weightMax;
    if (weight >= weightMax || random() * weightMax < weight) return place;
  }
  return place;
}

/** Another place, where there is one. */
function drawOther(
  from: readonly Candidate[],
  { at, one }: { readonly at: number; readonly one: number },
  chance: Chance,
): number {
  if (from.length - at < 2) return one;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const other = drawOne(from, at, chance);
    if (other !== one) return other;
  }
  return one === at ? at + 1 : at;
}

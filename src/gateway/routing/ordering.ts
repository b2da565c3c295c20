import type { Standing } from '../measure/standing.ts';
import type { Strategy } from './plan.ts';
import type { Prospect } from './prospect.ts';

/** Orders prospects in place: priority, then what the strategy wants, then who is freest. */
export function orderProspects(
  prospects: Prospect[],
  strategy: Strategy,
  random: () => number,
): void {
  if (prospects.length < 2) return;
  const compare = comparators[strategy];
  prospects.sort(compare);
  for (let from = 0; from < prospects.length;) {
    let to = from + 1;
    while (to < prospects.length && compare(at(prospects, from), at(prospects, to)) === 0) to += 1;
    if (to - from > 1) {
      const ordered = orderEquals(prospects.slice(from, to), random);
      prospects.splice(from, to - from, ...ordered);
    }
    from = to;
  }
}

/**
 * Where nobody else is left: who is below the least quality goes behind those who have it, the best
 * first. Priority goes before that, too.
 */
export function putBelowLast(prospects: Prospect[], least: number): void {
  const reached = ({ target }: Prospect) => Math.min(target.model.quality, least);
  if (prospects.every((one) => reached(one) === least)) return;
  prospects.sort((a, b) => byPriority(a, b) || reached(b) - reached(a));
}

type Compare = (a: Prospect, b: Prospect) => number;

const byPriority: Compare = (a, b) => a.target.provider.priority - b.target.provider.priority;

const comparators: Readonly<Record<Strategy, Compare>> = {
  // What nobody knows the price of is not cheap.
  cost: (a, b) =>
    byPriority(a, b) ||
    Number(a.target.model.isPriceUnknown ?? false) -
      Number(b.target.model.isPriceUnknown ?? false) ||
    a.estimatedCost - b.estimatedCost,
  performance: (a, b) => byPriority(a, b) || a.facts.expectedMs - b.facts.expectedMs,
  quality: (a, b) => byPriority(a, b) || b.target.model.quality - a.target.model.quality,
};

/** Those that the strategy cannot tell apart, one model after the other. */
function orderEquals(equals: readonly Prospect[], random: () => number): Prospect[] {
  const byModel = new Map<string, Prospect[]>();
  for (const one of equals) {
    const { name } = one.target.model;
    const peers = byModel.get(name);
    if (peers) peers.push(one);
    else byModel.set(name, [one]);
  }
  const groups = [...byModel.values()].map((peers) => orderPeers(peers, random));
  return groups.toSorted((a, b) => compareHeads(at(a, 0), at(b, 0))).flat();
}

/** Availability, load, quality, latency: in steps, so that noise does not decide. */
function compareHeads(a: Prospect, b: Prospect): number {
  const { standing: one } = a.facts;
  const { standing: other } = b.facts;
  return (
    stepOf(other.availability, 0.1) - stepOf(one.availability, 0.1) ||
    stepOf(one.inFlight, 4) - stepOf(other.inFlight, 4) ||
    b.target.model.quality - a.target.model.quality ||
    (one.latencyMs ?? 0) - (other.latencyMs ?? 0)
  );
}

function stepOf(value: number, step: number): number {
  return Math.floor(value / step + 1e-9);
}

/** Targets of one model: the better of two that are drawn by weight goes first. */
function orderPeers(peers: Prospect[], random: () => number): Prospect[] {
  if (peers.length === 1) return peers;
  const best = peers.reduce((max, one) => Math.max(max, availabilityOf(one)), 0);
  // Who fails clearly more often than the best of them is only there for when they fail.
  const sound = peers.filter((one) => availabilityOf(one) >= best - 0.1);
  const first = draw(sound, random);
  const second = draw(sound, random);
  const chosen = isFreer(second, first) ? second : first;
  const rest = peers.filter((one) => one !== chosen);
  return [chosen, ...rest.toSorted((a, b) => loadOf(a, typicalMs) - loadOf(b, typicalMs))];
}

function draw(peers: readonly Prospect[], random: () => number): Prospect {
  const total = peers.reduce((sum, one) => sum + one.target.provider.weight, 0);
  let left = random() * total;
  for (const one of peers) {
    left -= one.target.provider.weight;
    if (left < 0) return one;
  }
  return at(peers, peers.length - 1);
}

const typicalMs = 1000;
const clearly = 0.9;

/** Whether the second is clearly freer; one that was never measured counts as fast as the other. */
function isFreer(second: Prospect, first: Prospect): boolean {
  const known = first.facts.standing.latencyMs ?? second.facts.standing.latencyMs ?? typicalMs;
  return loadOf(second, known) < clearly * loadOf(first, known);
}

/** Requests on the way, times what each takes (peak EWMA); more weight carries more. */
function loadOf({ facts, target }: Prospect, defaultMs: number): number {
  const { inFlight, latencyMs = defaultMs } = facts.standing;
  return (inFlight / target.provider.weight + 1) * latencyMs;
}

function availabilityOf({ facts }: Prospect): number {
  return facts.standing.availability;
}

function at(prospects: readonly Prospect[], index: number): Prospect {
  const found = prospects[index];
  if (!found) throw new RangeError(`no prospect ${index} of ${prospects.length}`);
  return found;
}

/** Notes how long each is thought to take for an answer of so many tokens. */
export function expectTimes(prospects: readonly Prospect[], outputTokens: number): void {
  let fastest = Number.POSITIVE_INFINITY;
  for (const { facts } of prospects) {
    const measured = measuredMs(facts.standing, outputTokens);
    if (measured !== undefined) fastest = Math.min(fastest, measured);
  }
  for (const { facts, target } of prospects) {
    const { standing } = facts;
    const measured = measuredMs(standing, outputTokens);
    // Who was never asked gets a try: it is thought a little faster than the fastest.
    const idleMs =
      measured ?? Math.min(clearly * fastest, priorMs(target.model.quality, outputTokens));
    const crowd = 1 + standing.inFlight / crowdSize;
    facts.expectedMs = (idleMs * crowd) / Math.max(0.05, standing.availability) ** 2;
  }
}

/** So many more requests on the way are thought to double the time: providers serve many at once. */
const crowdSize = 4;

function measuredMs(standing: Standing, outputTokens: number): number | undefined {
  const { firstTokenMs, tokensPerSecond, latencyMs } = standing;
  if (firstTokenMs === undefined || tokensPerSecond === undefined) return latencyMs ?? firstTokenMs;
  return firstTokenMs + (outputTokens / tokensPerSecond) * 1000;
}

/** Larger models start and write more slowly; a guess that holds until the first answer. */
function priorMs(quality: number, outputTokens: number): number {
  return 200 + 400 * quality + (outputTokens / (150 - 80 * quality)) * 1000;
}

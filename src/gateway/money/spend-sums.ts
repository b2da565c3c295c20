import type { SpendEntry } from './spend-entry.ts';

/** What one subject took of one model on one day. */
export interface SpendSums {
  readonly subject: string;
  /** In UTC, `2026-11-21`. */
  readonly day: string;
  readonly provider: string;
  readonly model: string;
  /** The payer's name for people, as it was last. */
  name: string | undefined;
  requests: number;
  cachedRequests: number;
  inputTokens: number;
  cachedInputTokens: number;
  outputTokens: number;
  picodollars: bigint;
}

const dayMs = 86_400_000;

/** Adds entries up, so that what goes to the database grows with its rows and not with requests. */
export function addUp(entries: readonly SpendEntry[]): SpendSums[] {
  const sums = new Map<string, SpendSums>();
  for (const entry of entries) {
    const day = Math.floor(entry.atMs / dayMs);
    // No text of an entry holds U+0000.
    const key = `${day}\0${entry.subject}\0${entry.provider}\0${entry.model}`;
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = nothingOf(entry, day)));
    add(sum, entry);
  }
  return [...sums.values()];
}

function nothingOf({ subject, provider, model, name }: SpendEntry, day: number): SpendSums {
  return {
    subject,
    day: new Date(day * dayMs).toISOString().slice(0, 10),
    provider,
    model,
    name,
    requests: 0,
    cachedRequests: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    picodollars: 0n,
  };
}

function add(sum: SpendSums, entry: SpendEntry): void {
  sum.name = entry.name ?? sum.name;
  if (entry.kind !== 'part') sum.requests += 1;
  if (entry.kind === 'cached') sum.cachedRequests += 1;
  sum.inputTokens += entry.inputTokens;
  sum.cachedInputTokens += entry.cachedInputTokens;
  sum.outputTokens += entry.outputTokens;
  sum.picodollars += BigInt(entry.picodollars);
}

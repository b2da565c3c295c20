/** Buckets from 0.1 ms to four minutes, each 8 % wider than the one before it. */
export const bucketCount = 192;

const firstBoundMs = 0.1;
const growth = 1.08;
const logGrowth = Math.log(growth);

/** Counts of requests by bucket of latency; missing ones are 0. */
export type Latencies = ArrayLike<number>;

/** The bucket that a latency lies in; what is beyond the last one lies in it. */
export function bucketOf(latencyMs: number): number {
  if (latencyMs <= firstBoundMs) return 0;
  const at = Math.ceil(Math.log(latencyMs / firstBoundMs) / logGrowth);
  return Math.min(at, bucketCount - 1);
}

/**
 * The latency in milliseconds that this share of all requests did not exceed, within 4 %; 0 without
 * any. The counts are taken together.
 */
export function quantileOf(counts: readonly Latencies[], share: number): number {
  let total = 0;
  for (const one of counts) total += sum(one);
  if (total === 0) return 0;
  const wanted = total * share;
  let below = 0;
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    let inside = 0;
    for (const one of counts) inside += one[bucket] ?? 0;
    if (below + inside >= wanted && inside > 0) {
      return valueAt(bucket, (wanted - below) / inside);
    }
    below += inside;
  }
  return boundOf(bucketCount - 1);
}

/** The counts up to the last one that is not 0. */
export function trimmed(counts: Latencies): number[] {
  let length = counts.length;
  while (length > 0 && !counts[length - 1]) length -= 1;
  return Array.from(counts).slice(0, length);
}

function boundOf(bucket: number): number {
  return firstBoundMs * growth ** bucket;
}

/** As if a bucket's requests were spread evenly over it. */
function valueAt(bucket: number, share: number): number {
  const from = bucket === 0 ? 0 : boundOf(bucket - 1);
  return from + (boundOf(bucket) - from) * share;
}

function sum(counts: Latencies): number {
  let total = 0;
  for (let at = 0; at < counts.length; at += 1) total += counts[at] ?? 0;
  return total;
}

const spanMs = 60_000;

/** The latencies of the last one to two minutes; takes no memory before the first. */
export class RecentLatencies {
  #span = 0;
  #current: Uint32Array | undefined;
  #previous: Uint32Array | undefined;

  add(bucket: number, count: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#current ??= new Uint32Array(bucketCount);
    this.#current[bucket] = (this.#current[bucket] ?? 0) + count;
  }

  quantile(share: number, nowMs: number): number {
    this.#turn(nowMs);
    const counts = [this.#current, this.#previous].filter((one) => one !== undefined);
    return quantileOf(counts, share);
  }

  #turn(nowMs: number): void {
    const span = Math.floor(nowMs / spanMs);
    if (span === this.#span) return;
    this.#previous = span === this.#span + 1 ? this.#current : undefined;
    this.#current = undefined;
    this.#span = span;
  }
}

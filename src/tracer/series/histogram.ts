/** Largest relative error of a quantile. */
export const relativeError = 0.01;

const gamma = (1 + relativeError) / (1 - relativeError);
/** Bins for each e-fold of a value, for SQL that finds bins as `binOf` does. */
export const binsPerLog = 1 / Math.log(gamma);
// Bin 0 is for zero, so the bins of values from 1 on begin one later.
const firstBin = 1;

/**
 * The bin of a whole number: DDSketch's logarithmic mapping, `ceil(ln v / ln gamma)`. Nothing and what
 * is below it share bin 0.
 */
export function binOf(value: number): number {
  return value < 1 ? 0 : firstBin + Math.ceil(Math.log(value) * binsPerLog);
}

/** The value that stands for a bin: within 1 % of every value in it. */
export function valueOf(bin: number): number {
  return bin < firstBin ? 0 : (2 * gamma ** (bin - firstBin)) / (gamma + 1);
}

/**
 * Values counted by bins that grow by 2 %: any quantile is within 1 % of the exact one, whatever was
 * merged in whichever order. A count may be negative, where something is taken back that others hold.
 */
export class Histogram {
  readonly #counts = new Map<number, number>();

  static of(bins: readonly (readonly [bin: number, count: number])[]): Histogram {
    const histogram = new Histogram();
    for (const [bin, count] of bins) histogram.addBin(bin, count);
    return histogram;
  }

  get count(): number {
    let count = 0;
    for (const one of this.#counts.values()) count += one;
    return count;
  }

  add(value: number, count: number): void {
    this.addBin(binOf(value), count);
  }

  addBin(bin: number, count: number): void {
    this.#counts.set(bin, (this.#counts.get(bin) ?? 0) + count);
  }

  merge(other: Histogram): void {
    for (const [bin, count] of other.#counts) this.addBin(bin, count);
  }

  /** Bins that hold something, by their values. */
  bins(): (readonly [bin: number, count: number])[] {
    const bins = [...this.#counts].filter(([, count]) => count !== 0);
    return bins.toSorted(([one], [other]) => one - other);
  }

  /** The least value that the share `q` (0..1) of all do not exceed; undefined of an empty histogram. */
  quantile(q: number): number | undefined {
    return this.quantiles([q])[0];
  }

  /** The same of several shares; none of an empty histogram. */
  quantiles(shares: readonly number[]): number[] {
    const bins = this.bins().filter(([, count]) => count > 0);
    const count = bins.reduce((sum, [, one]) => sum + one, 0);
    if (count === 0) return [];
    return shares.map((q) => {
      const rank = Math.max(1, q * count);
      let upTo = 0;
      const [bin] = bins.find(([, one]) => (upTo += one) >= rank) ?? bins.at(-1) ?? [0];
      return valueOf(bin);
    });
  }
}

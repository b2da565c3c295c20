import type { ProcessEntry } from './process-table.ts';

interface Sample {
  readonly atMs: number;
  readonly cpuMs: ReadonlyMap<string, number>;
}

/** Turns processor times, which only grow, into a share of one core between two samples. */
export class UsageMeter {
  #last: Sample | undefined;
  #percent: number | undefined;

  get hasSample(): boolean {
    return this.#last !== undefined;
  }

  /**
   * Percent of one core since the sample before; undefined for the first. Samples that come so fast
   * that the system's clock has hardly moved give the figure before. `atMs` is monotonic.
   */
  sample(entries: readonly ProcessEntry[], atMs: number): number | undefined {
    const before = this.#last;
    if (before && atMs - before.atMs < shortestMs) return this.#percent;
    const cpuMs = new Map(entries.map((entry) => [`${entry.pid} ${entry.startedAt}`, entry.cpuMs]));
    this.#last = { atMs, cpuMs };
    if (!before) return undefined;
    let used = 0;
    // One that began in between has used all its time in between.
    for (const [name, time] of cpuMs) used += Math.max(0, time - (before.cpuMs.get(name) ?? 0));
    this.#percent = (used / (atMs - before.atMs)) * 100;
    return this.#percent;
  }
}

const shortestMs = 50;

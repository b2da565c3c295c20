import type { Swarms } from './swarms.ts';

const refreshMs = 2_000;

/** How many swarms are active on all replicas, as of the last look; for gauges, which cannot wait. */
export class SwarmCount {
  value = 0;
  #source: Pick<Swarms, 'countActive'> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Looks every two seconds from now on. */
  start(source: Pick<Swarms, 'countActive'>): void {
    this.#source = source;
    this.#timer = setInterval(() => void this.refresh().catch(() => {}), refreshMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks now; rejects when the database does not answer. */
  async refresh(): Promise<void> {
    if (this.#source) this.value = await this.#source.countActive();
  }
}

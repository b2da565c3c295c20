import type { Meter } from './meter.ts';

/** A replica that was silent this long runs nothing any more. */
const silenceMaxMs = 10_000;

interface Replica {
  heardAtMs: number;
  readonly active: ReadonlyMap<string, number>;
}

/** What runs at other replicas, as each said last. */
export class OtherReplicas {
  readonly #meterOf: (connectionId: string) => Meter;
  readonly #replicas = new Map<string, Replica>();

  constructor(meterOf: (connectionId: string) => Meter) {
    this.#meterOf = meterOf;
  }

  hear(id: string, active: readonly (readonly [string, number])[], nowMs: number): void {
    this.#forget(id);
    if (active.length === 0) return;
    const replica = { heardAtMs: nowMs, active: new Map(active) };
    for (const [connectionId, count] of replica.active) {
      this.#meterOf(connectionId).othersActive += count;
    }
    this.#replicas.set(id, replica);
  }

  expire(nowMs: number): void {
    for (const [id, { heardAtMs }] of this.#replicas) {
      if (nowMs - heardAtMs > silenceMaxMs) this.#forget(id);
    }
  }

  #forget(id: string): void {
    for (const [connectionId, count] of this.#replicas.get(id)?.active ?? []) {
      this.#meterOf(connectionId).othersActive -= count;
    }
    this.#replicas.delete(id);
  }
}

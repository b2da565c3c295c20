import type { Connection } from '../connections/connection.ts';
import { ConnectionDirectory } from '../connections/directory.ts';
import type { EndListener } from '../traffic/ledger.ts';
import { Meter } from '../traffic/meter.ts';
import { bucketOf } from '../traffic/latencies.ts';
import { Balancer } from './balancer.ts';

/** A repeatable source of numbers from 0 (inclusive) to 1 (exclusive): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Long before the tests' clock begins, so that no connection is new. */
const registeredAtMs = 1_700_000_000_000;

/** A healthy server that declares some capabilities; what is given here replaces the rest. */
export function connectionOf(
  number: number,
  capabilities: readonly string[],
  changes: Partial<Connection> = {},
): Connection {
  const id = `con_${String(number).padStart(5, '0')}`;
  const connection = {
    id,
    name: `server-${number}`,
    type: 'server',
    protocol: 'http',
    endpoint: { url: `http://server-${number}.test/mcp`, headers: { authorization: 'hidden' } },
    status: 'active',
    ownerId: 'usr_test',
    declared: capabilities.map((name) => ({ name, description: `does ${name}` })),
    quarantined: [],
    metadata: {},
    healthCheck: { enabled: true, interval: 30, timeout: 5_000 },
    health: {
      status: 'healthy',
      checksPerformed: 4,
      failedChecks: 1,
      failuresInRow: 0,
      lastCheckMs: registeredAtMs,
      upSinceMs: registeredAtMs,
    },
    createdAtMs: registeredAtMs,
    lastActiveAtMs: registeredAtMs,
    revision: 1,
    ...changes,
  };
  // The protocol and its endpoint fit each other, which a spread cannot show.
  return connection as Connection;
}

/** A balancer over a directory, a clock and requests that the test makes. */
export class BalancingGround {
  nowMs = 1_800_000_000_000;
  readonly directory = new ConnectionDirectory();
  readonly balancer: Balancer;
  readonly meters = new Map<string, Meter>();
  readonly #listeners = new Set<EndListener>();

  constructor(connections: readonly Connection[], seed = 1) {
    for (const connection of connections) this.directory.put(connection);
    this.balancer = new Balancer({
      directory: this.directory,
      ledger: {
        meterOf: (id) => this.meterOf(id),
        onEnd: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
      },
      now: () => this.nowMs,
      random: seededRandom(seed),
    });
  }

  meterOf(id: string): Meter {
    const meter = this.meters.get(id) ?? new Meter(id);
    this.meters.set(id, meter);
    return meter;
  }

  /** A request that has ended. */
  end(id: string, isError = false, latencyMs = 10): void {
    const outcome = isError ? 'error' : 'success';
    const request = { latencyMs, outcome, bucket: bucketOf(latencyMs) } as const;
    const meter = this.meterOf(id);
    meter.note(request, this.nowMs);
    meter.total.add(request);
    for (const listener of this.#listeners) listener(id, outcome);
  }

  fail(id: string, times: number): void {
    for (let time = 0; time < times; time += 1) this.end(id, true);
  }
}

import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { bucketOf } from './latencies.ts';
import { Meter, rounded } from './meter.ts';
import { OtherReplicas } from './other-replicas.ts';
import { Overall, type OverallFigures } from './overall.ts';
import type { Tally } from './tally.ts';
import type { Outcome, RunningRequest, Traffic, TrafficFigures } from './traffic.ts';
import { splitNews, trafficTopic, type TrafficNews } from './traffic-news.ts';
import { addTraffic, readTraffic, type TrafficRow, type TrafficSql } from './traffic-store.ts';

export interface LedgerOptions {
  readonly sql: TrafficSql;
  readonly bus: Bus;
  readonly log: Log;
  /** Milliseconds since the epoch, finer than whole ones. */
  readonly now?: (() => number) | undefined;
  /** How long figures wait to be written; 2,000 ms unless told. */
  readonly flushMs?: number | undefined;
}

/** A request that has ended here, for those who judge connections by it. */
export type EndListener = (connectionId: string, outcome: Outcome) => void;

/** What went through all connections that have a capability. */
export interface CapabilityFigures {
  readonly totalRequests: number;
  readonly averageLatency: number;
}

const rowsMax = 2_000;
const flushMsDefault = 2_000;

/**
 * Measures every request. Sums over all replicas are in the table and told to the other replicas
 * every two seconds; a process that dies loses what it had not written yet.
 */
export class TrafficLedger implements Traffic, AsyncDisposable {
  readonly #options: LedgerOptions;
  readonly #now: () => number;
  readonly #replica = newId('rep');
  readonly #topic: Topic<TrafficNews>;
  readonly #meters = new Map<string, Meter>();
  readonly #byCapability = new Map<string, Set<Tally>>();
  readonly #others = new OtherReplicas((id) => this.meterOf(id));
  readonly #overall: Overall;
  readonly #listeners = new Set<EndListener>();
  /** With requests that the table does not have. */
  readonly #unwritten = new Set<Tally>();
  /** In the table, and the other replicas do not know it. */
  readonly #untold = new Set<Tally>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  #isBusyTold = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.timeOrigin + performance.now());
    this.#overall = new Overall(this.#now());
    this.#topic = options.bus.topic<TrafficNews>(trafficTopic, retention);
  }

  /** Resolves when the sums of the table are known. */
  async start(): Promise<void> {
    const { log, flushMs = flushMsDefault } = this.#options;
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#hear(data), {
      after: await this.#topic.lastSeq(),
      onGap: () => {
        this.#inTurn(() => this.#reload()).catch((err: unknown) =>
          log.error({ err }, 'the traffic could not be reread'),
        );
      },
    });
    await this.#inTurn(() => this.#reload());
    this.#timer = setInterval(() => void this.flush(), flushMs).unref();
  }

  begin(connectionId: string, capability = ''): RunningRequest {
    const meter = this.meterOf(connectionId);
    meter.ownActive += 1;
    const startedAtMs = this.#now();
    let isRunning = true;
    return {
      end: (outcome) => {
        if (!isRunning) return;
        isRunning = false;
        meter.ownActive -= 1;
        this.#end(meter, { capability, outcome, startedAtMs });
      },
    };
  }

  figures(connectionId: string): TrafficFigures {
    return this.#meters.get(connectionId)?.figures(this.#now()) ?? noFigures;
  }

  overall(): OverallFigures {
    return this.#overall.figures(this.#now());
  }

  ofCapability(capability: string): CapabilityFigures {
    let totalRequests = 0;
    let latencyMs = 0;
    for (const tally of this.#byCapability.get(capability) ?? []) {
      totalRequests += tally.requests;
      latencyMs += tally.latencyMs;
    }
    const averageLatency = totalRequests === 0 ? 0 : rounded(latencyMs / totalRequests);
    return { totalRequests, averageLatency };
  }

  /** Everything measured of a connection, whether or not anything was. */
  meterOf(connectionId: string): Meter {
    let meter = this.#meters.get(connectionId);
    if (!meter) {
      meter = new Meter(connectionId);
      this.#meters.set(connectionId, meter);
    }
    return meter;
  }

  /** Called after each request that ends here. The answer ends it. */
  onEnd(listener: EndListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes and tells what is not written and told; failures are logged and tried again later. */
  flush(): Promise<void> {
    return this.#inTurn(async () => {
      this.#others.expire(this.#now());
      try {
        while (this.#unwritten.size > 0) await this.#write();
      } catch (err) {
        this.#options.log.warn({ err }, 'the traffic could not be written');
      }
      await this.#tell();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    await this.#subscription?.close();
  }

  #end(
    meter: Meter,
    ended: { readonly capability: string; readonly outcome: Outcome; readonly startedAtMs: number },
  ): void {
    const nowMs = this.#now();
    const latencyMs = Math.max(nowMs - ended.startedAtMs, 0);
    const { outcome } = ended;
    const request = { latencyMs, outcome, bucket: bucketOf(latencyMs) };
    meter.note(request, nowMs);
    this.#overall.add({ requests: 1, failures: outcome === 'error' ? 1 : 0, latencyMs }, nowMs);
    if (meter.total.add(request)) this.#unwritten.add(meter.total);
    const tally = this.#tallyOf(meter, ended.capability);
    if (tally?.add(request)) this.#unwritten.add(tally);
    for (const listener of this.#listeners) listener(meter.connectionId, outcome);
  }

  #tallyOf(meter: Meter, capability: string): Tally | undefined {
    const known = meter.capabilities.get(capability);
    if (known) return known;
    const tally = meter.tallyOf(capability);
    if (!tally) return undefined;
    const tallies = this.#byCapability.get(capability) ?? new Set();
    this.#byCapability.set(capability, tallies.add(tally));
    return tally;
  }

  /** One after the other, so that what is on its way to the table is there only once. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  async #write(): Promise<void> {
    const tallies = [...this.#unwritten].slice(0, rowsMax);
    const deltas = tallies.map((tally) => {
      this.#unwritten.delete(tally);
      return tally.take();
    });
    try {
      for (const row of await addTraffic(this.#options.sql, deltas)) this.#takeOver(row, true);
    } catch (error) {
      for (const tally of tallies) {
        tally.restore();
        this.#unwritten.add(tally);
      }
      throw error;
    }
    for (const tally of tallies) this.#untold.add(tally);
  }

  /** What runs here is told again and again, so that the others can forget a replica that is gone. */
  async #tell(): Promise<void> {
    const active: [string, number][] = [];
    for (const { connectionId, ownActive } of this.#meters.values()) {
      if (ownActive > 0) active.push([connectionId, ownActive]);
    }
    if (this.#untold.size === 0 && active.length === 0 && !this.#isBusyTold) return;
    const told = [...this.#untold];
    const rows = told.flatMap(({ stored }) => stored ?? []);
    try {
      for (const news of splitNews(this.#replica, rows, active)) await this.#topic.publish(news);
      for (const tally of told) this.#untold.delete(tally);
      this.#isBusyTold = active.length > 0;
    } catch (err) {
      this.#options.log.debug({ err }, 'other replicas could not be told of traffic');
    }
  }

  #hear({ replica, rows, active }: TrafficNews): void {
    if (replica === this.#replica) return;
    for (const row of rows) this.#takeOver(row, false);
    if (active) this.#others.hear(replica, active, this.#now());
  }

  /** Whatever a row has more than was known came to pass elsewhere, a moment ago. */
  #takeOver(row: TrafficRow, isOwn: boolean, isOld = false): void {
    const meter = this.meterOf(row.connectionId);
    const isTotal = row.capability === '';
    const tally = isTotal ? meter.total : this.#tallyOf(meter, row.capability);
    if (!tally) return;
    const { requests, failures, latencyMs } = tally;
    const buckets = isOld ? new Map<number, number>() : bucketsOf(tally, row);
    if (isOwn) tally.settle(row);
    else tally.takeOver(row);
    if (!isTotal) return;
    const news = {
      requests: tally.requests - requests,
      failures: tally.failures - failures,
      latencyMs: tally.latencyMs - latencyMs,
    };
    const nowMs = this.#now();
    if (isOld || news.requests <= 0) {
      this.#overall.correct(news);
      return;
    }
    for (const [bucket, before] of buckets) buckets.set(bucket, tally.countIn(bucket) - before);
    meter.noteOthers(news, buckets, nowMs);
    this.#overall.add(news, nowMs);
  }

  async #reload(): Promise<void> {
    let after = { connectionId: '', capability: '' };
    for (;;) {
      const rows = await readTraffic(this.#options.sql, after);
      for (const row of rows) this.#takeOver(row, false, true);
      const last = rows.at(-1);
      if (!last) return;
      after = last;
    }
  }
}

const retention = { retainCount: 100, retainSeconds: 60 };

const noFigures: TrafficFigures = {
  activeRequests: 0,
  requestsPerMinute: 0,
  totalRequests: 0,
  failedRequests: 0,
  inconclusiveRequests: 0,
  averageLatency: 0,
  p95Latency: 0,
};

/** How many requests lay in each bucket of the row before it was taken over. */
function bucketsOf(tally: Tally, { latencies }: TrafficRow): Map<number, number> {
  const counts = new Map<number, number>();
  for (const bucket of latencies.keys()) {
    if (latencies[bucket]) counts.set(bucket, tally.countIn(bucket));
  }
  return counts;
}

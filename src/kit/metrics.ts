import { Counter, Gauge, Histogram, Registry, type HistogramConfiguration } from 'prom-client';
import { Type } from 'typebox';
import type { Route } from './contract.ts';

/** What a metric is called and what it says. */
export interface MetricOptions {
  /** Snake case, with its unit; of a counter as a rule with `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, without infinity. */
  readonly buckets: readonly number[];
}

/** A number that only grows. */
export interface Count {
  /** By 1 when nothing is said; throws `RangeError` for what is not 0 or more. */
  inc(by?: number): void;
}

/** How often values lay where. */
export interface Observation {
  observe(value: number): void;
}

/**
 * One metric with all its label values. `of` answers the same child each time; who counts often keeps
 * the child.
 */
export interface Family<T> {
  /** The values in the order of the metric's labels; `other` for each once there are too many. */
  of(...values: readonly string[]): T;
}

/** Sets a gauge's value for these label values. */
export type SetGauge = (value: number, ...labelValues: readonly string[]) => void;

const labelSetsMax = 5_000;
const overflow = 'other';

/**
 * The metrics of one service instance, nobody else's. A family has at most 5,000 children, whatever
 * its label values come from; what comes then is counted together as `other`.
 */
export class Metrics {
  readonly #registry = new Registry();

  counter(options: MetricOptions): Family<Count> {
    const children = new Children(options, () => new PlainCount());
    const counter: Counter = new Counter({
      ...this.#settings(options),
      collect: () => {
        counter.reset();
        for (const [values, { sum }] of children) counter.labels(...values).inc(sum);
      },
    });
    return children;
  }

  histogram({ buckets, ...options }: HistogramOptions): Family<Observation> {
    const children = new Children(options, () => new PlainObservation(buckets));
    // One without labels is shown before anything was observed.
    if (!options.labels?.length) children.of();
    const settings = { ...this.#settings(options), buckets: [...buckets], registers: [] };
    const show = () => valuesOf(options, buckets, children);
    this.#registry.registerMetric(new ShownHistogram(settings, show));
    return children;
  }

  /** A value that is asked for whenever somebody reads the metrics, and costs nothing else. */
  gauge(options: MetricOptions, read: (set: SetGauge) => void): void {
    const gauge: Gauge = new Gauge({
      ...this.#settings(options),
      collect: () => {
        gauge.reset();
        read((value, ...labelValues) => gauge.labels(...labelValues).set(value));
      },
    });
  }

  /** All metrics in Prometheus' text format 0.0.4. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The answer to whoever reads the metrics. */
  async answer(): Promise<Response> {
    const headers = { 'content-type': this.#registry.contentType, 'cache-control': 'no-store' };
    return new Response(await this.text(), { headers });
  }

  #settings({ name, help, labels = [] }: MetricOptions) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

/** The route that shows a service's metrics, also at `/metrics`, where collectors look for them. */
export function metricsRoute(url: string) {
  return {
    method: 'GET',
    url,
    aliases: url === '/metrics' ? [] : ['/metrics'],
    summary: 'Read the metrics in the text format of Prometheus',
    description: 'Callers from other machines need a token.',
    auth: 'loopback',
    rateLimit: 'none',
    trace: 'none',
    schema: { response: { 200: Type.String({ contentMediaType: 'text/plain' }) } },
  } as const satisfies Route;
}

/** Counting costs an addition; the registry learns the sum when somebody reads it. */
class PlainCount implements Count {
  sum = 0;

  inc(by = 1): void {
    if (!(by >= 0 && by < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`a counter cannot go up by ${by}`);
    }
    this.sum += by;
  }
}

/** Counting costs a few additions; the registry learns the counts when somebody reads them. */
class PlainObservation implements Observation {
  sum = 0;
  count = 0;
  /** How many values lie in each bucket and in none below it. */
  readonly counts: number[];
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be observed`);
    this.sum += value;
    this.count += 1;
    for (let at = 0; at < this.#bounds.length; at += 1) {
      if (value > (this.#bounds[at] ?? 0)) continue;
      this.counts[at] = (this.counts[at] ?? 0) + 1;
      return;
    }
  }
}

interface ShownValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A histogram of which the registry shows what was counted elsewhere. */
class ShownHistogram extends Histogram {
  readonly #about: Pick<MetricOptions, 'name' | 'help'>;
  readonly #show: () => readonly ShownValue[];

  constructor(settings: HistogramConfiguration<string>, show: () => readonly ShownValue[]) {
    super(settings);
    this.#about = settings;
    this.#show = show;
  }

  /** What prom-client's registry asks a histogram for. */
  getForPromString(): object {
    const { name, help } = this.#about;
    return { name, help, type: 'histogram', values: this.#show() };
  }
}

/** Each bucket counts all below it too. */
function valuesOf(
  { name, labels: names = [] }: MetricOptions,
  bounds: readonly number[],
  children: Children<PlainObservation>,
): ShownValue[] {
  const values: ShownValue[] = [];
  for (const [labelValues, { counts, sum, count }] of children) {
    const labels = Object.fromEntries(names.map((label, at) => [label, labelValues[at] ?? '']));
    let below = 0;
    for (const [at, bound] of bounds.entries()) {
      below += counts[at] ?? 0;
      values.push({ metricName: `${name}_bucket`, labels: { le: bound, ...labels }, value: below });
    }
    const all = { le: '+Inf', ...labels };
    values.push({ metricName: `${name}_bucket`, labels: all, value: count });
    values.push({ metricName: `${name}_sum`, labels, value: sum });
    values.push({ metricName: `${name}_count`, labels, value: count });
  }
  return values;
}

interface Child<T> {
  readonly values: readonly string[];
  readonly metric: T;
}

class Children<T> implements Family<T> {
  readonly #labels: readonly string[];
  readonly #open: (values: readonly string[]) => T;
  readonly #children = new Map<string, Child<T>>();
  #rest: Child<T> | undefined;

  constructor({ labels = [] }: MetricOptions, open: (values: readonly string[]) => T) {
    this.#labels = labels;
    this.#open = open;
  }

  of(...values: readonly string[]): T {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\u0000');
    const known = this.#children.get(key);
    return known ? known.metric : this.#add(key, values).metric;
  }

  *[Symbol.iterator](): Generator<readonly [readonly string[], T]> {
    for (const { values, metric } of this.#children.values()) yield [values, metric];
    if (this.#rest) yield [this.#rest.values, this.#rest.metric];
  }

  #add(key: string, values: readonly string[]): Child<T> {
    if (this.#children.size < labelSetsMax) {
      const child = { values, metric: this.#open(values) };
      this.#children.set(key, child);
      return child;
    }
    const others = this.#labels.map(() => overflow);
    this.#rest ??= { values: others, metric: this.#open(others) };
    return this.#rest;
  }
}

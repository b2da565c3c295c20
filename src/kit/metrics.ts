import { Counter, Gauge, Histogram, Registry } from 'prom-client';
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
    const histogram = new Histogram({ ...this.#settings(options), buckets: [...buckets] });
    return new Children(options, (values) => histogram.labels(...values));
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

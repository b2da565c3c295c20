import { Fault } from '../../kit/errors.ts';
import type { GatewayMetrics } from '../metrics/gateway-metrics.ts';
import type { Target } from '../providers/provider.ts';

/** What happened to a request so far, told in the metrics when it fails. */
export class Course {
  readonly #metrics: GatewayMetrics;
  readonly #startedAt: number;
  #target: Target | undefined;
  #attempts = 0;
  #isCounted = false;

  constructor(startedAt: number, metrics: GatewayMetrics) {
    this.#startedAt = startedAt;
    this.#metrics = metrics;
  }

  /** Who was asked last; undefined before anybody was. */
  get target(): Target | undefined {
    return this.#target;
  }

  /** How many times a provider was asked. */
  get attempts(): number {
    return this.#attempts;
  }

  /** A provider is asked. */
  ask(target: Target): void {
    this.#attempts += 1;
    this.#target = target;
    if (this.#attempts > 1) this.#metrics.retried(target.provider.name);
  }

  /** The request is in the books, whatever comes now. */
  count(): void {
    this.#isCounted = true;
  }

  /** Counts the failure; answers the Fault to be thrown. */
  fail(error: unknown): Fault {
    const fault = Fault.from(error);
    if (this.#isCounted) return fault;
    this.#isCounted = true;
    this.#metrics.failed({
      kind: fault.code,
      seconds: (performance.now() - this.#startedAt) / 1_000,
      provider: this.#target?.provider.name,
      model: this.#target?.model.name,
    });
    return fault;
  }
}

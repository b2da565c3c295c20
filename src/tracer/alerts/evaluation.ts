import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { claimDueAlerts, recordValues, type AlertSql, type Finding } from './alert-store.ts';
import type { Alert } from './alert.ts';
import { exampleOrderOf, holds, valueOf, windowSeconds, type WindowFacts } from './condition.ts';
import { moveAlert } from './event-store.ts';
import type { AlertMetrics, MetricRange } from './metric-source.ts';

export interface EvaluationOptions {
  readonly sql: AlertSql;
  readonly metrics: AlertMetrics;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long an evaluation by any replica is good for. */
  readonly everyMs: number;
}

const examplesMax = 3;
const minuteMs = 60_000;

/** Finds out which alerts hold, and moves those that hold no longer or now do. */
export class Evaluation {
  readonly #options: EvaluationOptions;

  constructor(options: EvaluationOptions) {
    this.#options = options;
  }

  /** Evaluates what is due; an alert that fails keeps none of the others. Never rejects. */
  async run(): Promise<void> {
    const { sql, now, everyMs, log } = this.#options;
    try {
      const at = new Date(now());
      const alerts = await claimDueAlerts(sql, at, everyMs);
      if (alerts.length === 0) return;
      const windows = new Windows(this.#options.metrics, at.getTime());
      const findings: Finding[] = [];
      for (const alert of alerts) {
        const finding = await this.#evaluate(alert, { windows, at });
        if (finding) findings.push(finding);
      }
      await recordValues(sql, findings);
    } catch (error) {
      log.warn({ err: error }, 'the alerts could not be evaluated');
    }
  }

  async #evaluate(
    alert: Alert,
    { windows, at }: { readonly windows: Windows; readonly at: Date },
  ): Promise<Finding | undefined> {
    const { id, revision, condition } = alert;
    try {
      const value = valueOf(condition.metric, await windows.of(alert));
      if (holds(condition, value) !== alert.isFiring) {
        await this.#move(alert, { value, at, range: windows.rangeOf(alert) });
      }
      return { id, revision, value };
    } catch (error) {
      const reason = Fault.from(error).message;
      this.#options.log.warn({ err: error, alertId: id, reason }, 'an alert was not evaluated');
      return undefined;
    }
  }

  async #move(
    alert: Alert,
    {
      value,
      at,
      range,
    }: { readonly value: number | undefined; readonly at: Date; readonly range: MetricRange },
  ): Promise<void> {
    const { id, revision, name, severity, condition, isFiring, firingSince } = alert;
    const kind = isFiring ? 'resolved' : 'fired';
    const facts = {
      name,
      severity,
      condition,
      value: value ?? null,
      firedAt: (firingSince ?? at).toISOString(),
      traceIds: kind === 'fired' ? await this.#examples(alert, range) : [],
    };
    const eventId = newId('ale');
    const transition = { alertId: id, revision, eventId, kind, at, facts } as const;
    if (!(await moveAlert(this.#options.sql, transition))) return;
    this.#options.log.warn({ alertId: id, name, severity, value }, `an alert ${kind}`);
  }

  /** A message without examples is better than none. */
  async #examples({ condition }: Alert, range: MetricRange): Promise<readonly string[]> {
    const { metrics, log } = this.#options;
    const order = exampleOrderOf(condition.metric);
    try {
      return (await metrics.examples?.({ ...range, order, limit: examplesMax })) ?? [];
    } catch (error) {
      log.warn({ err: error }, 'no example traces were found for an alert');
      return [];
    }
  }
}

/** The windows that end now, each asked for once however many alerts look at it. */
class Windows {
  readonly #metrics: AlertMetrics;
  readonly #nowMs: number;
  readonly #known = new Map<string, Promise<WindowFacts>>();

  constructor(metrics: AlertMetrics, nowMs: number) {
    this.#metrics = metrics;
    this.#nowMs = nowMs;
  }

  of(alert: Alert): Promise<WindowFacts> {
    const range = this.rangeOf(alert);
    const key = JSON.stringify([range.fromUs, range.agent, range.operation]);
    const known = this.#known.get(key) ?? this.#ask(range);
    this.#known.set(key, known);
    return known;
  }

  /** As long as the condition says; the minute that is not over yet is wholly inside. */
  rangeOf({ condition: { timeWindow, agentId, operation } }: Alert): MetricRange {
    const fromMs = this.#nowMs - windowSeconds(timeWindow) * 1_000;
    const toMs = (Math.floor(this.#nowMs / minuteMs) + 1) * minuteMs;
    return { fromUs: fromMs * 1_000, toUs: toMs * 1_000, agent: agentId, operation };
  }

  async #ask(range: MetricRange): Promise<WindowFacts> {
    const window = await this.#metrics.window(range);
    const { count, errors, sumUs } = window;
    const seconds = (this.#nowMs - range.fromUs / 1_000) / 1_000;
    return { count, errors, sumUs, seconds, quantileUs: (q) => window.quantileUs(q) };
  }
}

import type { Fill, Lookup } from '../cache/answer-cache.ts';
import type { Usage } from '../conversation/answer.ts';
import type { Target } from '../providers/provider.ts';
import type { Plan } from '../routing/plan.ts';
import type { PreparedAsk } from './ask.ts';
import type { AttemptOptions, Attempts } from './attempts/attempts.ts';
import type { Bill } from './bill.ts';
import type { Course } from './course.ts';
import { usageOfPrompt } from './attempts/estimated-usage.ts';
import type { CacheMark, ExchangeParts, Provenance } from './parts.ts';

export interface AskingOptions {
  readonly parts: ExchangeParts;
  readonly plan: Plan;
  readonly bill: Bill;
  readonly course: Course;
  readonly lookup: Exclude<Lookup, { readonly state: 'hit' }>;
}

const notCached = {};

/** One request on its way through a plan. */
export class Asking {
  readonly parts: ExchangeParts;
  readonly plan: Plan;
  readonly bill: Bill;
  readonly course: Course;
  readonly cached: { readonly fill?: Fill; readonly mark?: CacheMark };

  constructor({ parts, plan, bill, course, lookup }: AskingOptions) {
    this.parts = parts;
    this.plan = plan;
    this.bill = bill;
    this.course = course;
    this.cached =
      lookup.state === 'miss'
        ? { fill: lookup.fill, mark: { state: 'MISS', key: lookup.key, ageSeconds: 0 } }
        : notCached;
  }

  /** Frees what is held for it; of those who wait for the same answer the first one asks. */
  abandon(): void {
    this.bill.abandon();
    this.cached.fill?.abandon();
  }

  /** Frees what is held for it, and all who wait for the same answer. */
  decline(): void {
    this.bill.abandon();
    this.cached.fill?.decline();
  }

  /** Writes down what somebody took whose answer came when another was there already. */
  billSurplus(target: Target, known: Usage | undefined): void {
    const usage = usageOfPrompt(this.plan.inputTokens, known);
    this.bill.add({ target, usage, outcome: 'aborted' });
  }

  get attempts(): Attempts {
    return this.parts.attempts;
  }

  /** For an answer from its beginning. */
  firstAttempts(asked: PreparedAsk): AttemptOptions {
    return { ...this.attemptOptions(asked), lastResorts: () => this.plan.lastResorts() };
  }

  attemptOptions(asked: PreparedAsk): AttemptOptions {
    return attemptOptions(asked, this.parts);
  }

  provenance({ provider, model }: Target, cost?: number): Provenance {
    return {
      provider: provider.name,
      model: model.name,
      cost,
      attempts: this.course.attempts,
      cache: this.cached.mark,
    };
  }
}

/** Until when providers are asked, and where their failures are counted. */
export function attemptOptions(
  { cancellation, startedAt }: Pick<PreparedAsk, 'cancellation' | 'startedAt'>,
  { metrics, deadlineMs }: Pick<ExchangeParts, 'metrics' | 'deadlineMs'>,
): AttemptOptions {
  return {
    cancellation,
    deadlineAt: startedAt + deadlineMs,
    onFailure: ({ target, failure }) => metrics.attempted(target.provider.name, failure.kind),
  };
}

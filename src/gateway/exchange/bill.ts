import type { CachedAnswer } from '../cache/answer-cache.ts';
import type { Usage } from '../conversation/answer.ts';
import { priceOf } from '../../kit/prices/pricing.ts';
import type { GatewayMetrics } from '../metrics/gateway-metrics.ts';
import type { Estimate, Purse, Reservation, Spend } from '../money/purse.ts';
import type { Target } from '../providers/provider.ts';
import type { Candidate, Plan } from '../routing/plan.ts';
import type { PreparedAsk } from './ask.ts';

/** How a request ended that took something. */
export interface BillItem {
  readonly target: Target;
  readonly usage: Usage;
  readonly outcome: Spend['outcome'];
  /** Milliseconds of `performance.now()`. */
  readonly firstTokenAt?: number | undefined;
}

/** A bill that is closed. */
export interface Closed {
  /** US dollars. */
  readonly cost: number;
  /** Never rejects; a whole answer waits for it, so that what was answered is written down. */
  readonly written: void | Promise<void>;
}

export interface BillParts {
  readonly purse: Purse;
  readonly metrics: GatewayMetrics;
}

/** Whose request it is. */
export type Billed = Pick<PreparedAsk, 'payer' | 'startedAt' | 'span'>;

const outputTokensDefault = 1_024;
const nothing = { tokens: 0, dollars: 0 };

/** Holds what a request may spend until `close` or `abandon`; at once for who has no budget. */
export function openBill(billed: Billed, likely: Estimate, parts: BillParts): Bill | Promise<Bill> {
  const reservation = parts.purse.reserve(billed.payer, likely);
  if (!(reservation instanceof Promise)) return new Bill(billed, reservation, parts);
  return reservation.then((held) => new Bill(billed, held, parts));
}

/** The most that a chat is likely to take. */
export function mostOf({ request }: PreparedAsk, { inputTokens, candidates }: Plan): Estimate {
  const outputTokens = (request.maxTokens ?? outputTokensDefault) * (request.choices ?? 1);
  return new LikelyMost({ inputTokens, outputTokens }, candidates);
}

/** Writes down that the cache answered: a request, and neither tokens nor money. Done when it is. */
export async function billHit(
  { payer, startedAt, span }: PreparedAsk,
  { provider, model, inputTokens, outputTokens }: CachedAnswer,
  { purse, metrics }: BillParts,
): Promise<void> {
  const reserving = purse.reserve(payer, nothing);
  const reservation = reserving instanceof Promise ? await reserving : reserving;
  const usage = { inputTokens, outputTokens };
  const spend = { payer, provider, model, usage, dollars: 0, outcome: 'cached' } as const;
  const written = reservation.settle(spend);
  const seconds = (performance.now() - startedAt) / 1_000;
  metrics.answered({ provider, model, dollars: 0, outcome: 'cached', seconds });
  span.setAttributes({ 'gen_ai.provider.name': provider, 'ennead.cache': 'hit' });
  await written;
}

/** What one request spends. */
export class Bill {
  readonly #asked: Billed;
  readonly #reservation: Reservation;
  readonly #parts: BillParts;
  #isClosed = false;

  constructor(asked: Billed, reservation: Reservation, parts: BillParts) {
    this.#asked = asked;
    this.#reservation = reservation;
    this.#parts = parts;
  }

  /** Writes down how the request ended; where that is known already, what another provider took. */
  close(item: BillItem): Closed {
    if (this.#isClosed) return { cost: this.add(item), written: undefined };
    const cost = this.#count(item);
    this.#isClosed = true;
    return { cost, written: this.#reservation.settle(this.#spendOf(item, cost)) };
  }

  /**
   * Writes down what a provider took that did not get to the end, beside who did; answers US dollars.
   */
  add(item: BillItem): number {
    const { target, usage } = item;
    const dollars = priceOf(usage, target.model.prices);
    const [provider, model] = [target.provider.name, target.model.name];
    this.#parts.metrics.spent({ provider, model, usage, dollars });
    this.#reservation.add(this.#spendOf(item, dollars));
    return dollars;
  }

  /** Keeps what a provider took so far, in case this process dies before the bill is closed. */
  keep({ target, usage }: Pick<BillItem, 'target' | 'usage'>): void {
    if (this.#isClosed) return;
    const dollars = priceOf(usage, target.model.prices);
    this.#reservation.keep(this.#spendOf({ target, usage, outcome: 'aborted' }, dollars));
  }

  /** Frees what is held, unless the bill is closed. */
  abandon(): void {
    if (!this.#isClosed) this.#reservation.release();
  }

  #count({ target, usage, outcome, firstTokenAt }: BillItem): number {
    const dollars = priceOf(usage, target.model.prices);
    const { startedAt, span } = this.#asked;
    const [provider, model] = [target.provider.name, target.model.name];
    const secondsAt = (at: number) => (at - startedAt) / 1_000;
    this.#parts.metrics.answered({
      provider,
      model,
      usage,
      dollars,
      outcome,
      seconds: secondsAt(performance.now()),
      firstTokenSeconds: firstTokenAt === undefined ? undefined : secondsAt(firstTokenAt),
    });
    const facts = {
      'gen_ai.provider.name': provider,
      'gen_ai.response.model': model,
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
      'ennead.cost': dollars,
    };
    for (const [name, value] of Object.entries(facts)) {
      if (value !== undefined) span.setAttribute(name, value);
    }
    return dollars;
  }

  #spendOf({ target, usage, outcome }: BillItem, dollars: number): Spend {
    const { payer } = this.#asked;
    const [provider, model] = [target.provider.name, target.model.name];
    return { payer, provider, model, usage, dollars, outcome };
  }
}

/** What a request is likely to take at most; dollars are reckoned only for who has a budget. */
export class LikelyMost implements Estimate {
  readonly tokens: number;
  readonly #usage: Usage;
  readonly #candidates: readonly Candidate[];

  constructor(usage: Usage, candidates: readonly Candidate[]) {
    this.tokens = usage.inputTokens + usage.outputTokens;
    this.#usage = usage;
    this.#candidates = candidates;
  }

  get dollars(): number {
    const prices = this.#candidates.map(({ target }) => target.model.prices);
    return Math.max(...prices.map((price) => priceOf(this.#usage, price)));
  }
}

import type { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import { failSpan, type Span } from '../../kit/trace.ts';
import { priceOf } from '../catalogue/prices.ts';
import type { Embeddings, EmbeddingRequest } from '../conversation/embedding.ts';
import type { EmbeddingDialect } from '../dialects/dialect.ts';
import { guardEmbedding } from '../guardrails/guarding.ts';
import type { Payer } from '../money/purse.ts';
import { targetId, type ProviderList, type Target } from '../providers/provider.ts';
import type { Candidate } from '../routing/plan.ts';
import { textTokens } from '../routing/tokens.ts';
import { parseAnswer, requireSuccess } from '../upstream/failed-answer.ts';
import { fetchWhole } from '../upstream/whole-answer.ts';
import { startAttemptSpan, withTrace, type Attempt } from './attempt-span.ts';
import { Course } from './course.ts';
import type { ExchangeParts } from './parts.ts';

export interface EmbeddingAsk {
  readonly request: EmbeddingRequest;
  readonly payer: Payer;
  readonly span: Span;
  readonly cancellation: Cancellation;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

export interface EmbeddingAnswer {
  readonly embeddings: Embeddings;
  readonly target: Target;
  /** US dollars. */
  readonly cost: number;
  /** How many times a provider was asked. */
  readonly attempts: number;
}

const automatic = 'auto-route';

/** Takes texts to a provider that turns them into vectors: the cheapest that has the model. */
export class EmbeddingExchange {
  readonly #parts: ExchangeParts;
  readonly #providers: ProviderList;

  constructor(parts: ExchangeParts, providers: ProviderList) {
    this.#parts = parts;
    this.#providers = providers;
  }

  async embed(ask: EmbeddingAsk): Promise<EmbeddingAnswer> {
    const course = new Course(ask.startedAt, this.#parts.metrics);
    try {
      return await this.#embed(ask, course);
    } catch (error) {
      throw course.fail(error);
    }
  }

  async #embed(given: EmbeddingAsk, course: Course): Promise<EmbeddingAnswer> {
    const { attempts, metrics, purse, deadlineMs, guardrails } = this.#parts;
    const ask = { ...given, request: guardEmbedding(guardrails, given.request) };
    const tokens = estimate(ask.request);
    const candidates = this.#candidates(ask.request, tokens);
    const dollars = Math.max(...candidates.map(({ estimatedCost }) => estimatedCost));
    const reservation = await purse.reserve(ask.payer, { tokens, dollars });
    try {
      const { value, target, trip } = await attempts.run(
        candidates,
        {
          cancellation: ask.cancellation,
          deadlineAt: ask.startedAt + deadlineMs,
          onFailure: ({ target: failed, failure }) =>
            metrics.attempted(failed.provider.name, failure.kind),
        },
        (candidate, opened, cancellation) => {
          course.ask(candidate);
          return this.#receive(ask, { target: candidate, trip: opened, cancellation });
        },
      );
      trip.succeeded(0);
      const usage = { inputTokens: value.inputTokens, outputTokens: 0 };
      const cost = priceOf(usage, target.model.prices);
      const [provider, model] = [target.provider.name, target.model.name];
      const outcome = 'complete';
      const spend = { payer: ask.payer, provider, model, usage, dollars: cost, outcome } as const;
      const written = reservation.settle(spend);
      course.count();
      metrics.attempted(provider, 'success');
      const seconds = (performance.now() - ask.startedAt) / 1_000;
      metrics.answered({ provider, model, usage, dollars: cost, seconds, outcome });
      await written;
      return { embeddings: value, target, cost, attempts: course.attempts };
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  async #receive(ask: EmbeddingAsk, { target, trip, cancellation }: Attempt): Promise<Embeddings> {
    const { tracer, upstreams, dialects, headers: book } = this.#parts;
    const { provider, model } = target;
    const dialect = dialects[provider.dialect];
    const words = requireEmbeddings(dialect.embeddings);
    const span = startAttemptSpan(tracer, ask.span, { target, operation: 'embeddings' });
    try {
      const { path, body } = words.write(ask.request, model.name);
      const headers = await book.of(provider, trip.key, dialect);
      const outgoing = withTrace({ target, path, headers, body: JSON.stringify(body) }, span);
      const timeoutMs = provider.timeouts.totalMs;
      const whole = await fetchWhole(upstreams, outgoing, { cancellation, timeoutMs });
      requireSuccess(dialect, whole);
      return words.read(parseAnswer(provider.name, whole.bytes), ask.request);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Those who can, the cheapest first; throws where nobody can. */
  #candidates(request: EmbeddingRequest, tokens: number): readonly Candidate[] {
    const targets = this.#targetsOf(request.model);
    if (targets.length === 0) throw modelNotFound(request.model);
    const able = targets.filter((target) => this.#objection(request, target) === undefined);
    const [first] = targets;
    if (able.length === 0 && first) throw unable(first, this.#objection(request, first) ?? 'model');
    return able
      .map((target) => ({
        target,
        estimatedCost: priceOf({ inputTokens: tokens, outputTokens: 0 }, target.model.prices),
        reasons: [],
      }))
      .toSorted(
        (one, other) =>
          one.target.provider.priority - other.target.provider.priority ||
          one.estimatedCost - other.estimatedCost,
      );
  }

  #targetsOf(model: string): readonly Target[] {
    if (model !== automatic) return this.#providers.targetsOf(model);
    return this.#providers
      .all()
      .flatMap((provider) =>
        [...provider.models.values()]
          .filter(({ capabilities }) => capabilities.has('embedding'))
          .map((offered) => ({ provider, model: offered })),
      );
  }

  /** The field that a target cannot do. */
  #objection(request: EmbeddingRequest, { provider, model }: Target): string | undefined {
    if (!model.capabilities.has('embedding')) return 'model';
    const dialect = this.#parts.dialects[provider.dialect].embeddings;
    return dialect ? dialect.unsupported(request) : 'model';
  }
}

function requireEmbeddings(dialect: EmbeddingDialect | undefined): EmbeddingDialect {
  if (!dialect) throw new RangeError('this dialect has no embeddings');
  return dialect;
}

function estimate({ input }: EmbeddingRequest): number {
  const tokens = input.reduce(
    (sum, one) => sum + (typeof one === 'string' ? textTokens(one) : one.length),
    0,
  );
  return Math.ceil(tokens);
}

function modelNotFound(name: string): Fault {
  return new Fault('not_found', `there is no model ${name}`, {
    reason: 'model_not_found',
    detail: { param: 'model' },
  });
}

function unable(target: Target, param: string): Fault {
  const what = param === 'model' ? 'makes no embeddings' : `has no word for ${param}`;
  return new Fault('invalid', `${targetId(target)} ${what}`, {
    reason: 'unsupported_parameter',
    detail: { param },
  });
}

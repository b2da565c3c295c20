import type { Cancellation } from '../../../kit/cancellation.ts';
import { failSpan, type Span } from '../../../kit/trace/trace.ts';
import type { Dialect, ErrandDialect } from '../../dialects/dialect.ts';
import { parseAnswer, requireSuccess } from '../../upstream/failed-answer.ts';
import type { RequestHead } from '../../upstream/request-headers.ts';
import { fetchWhole } from '../../upstream/whole-answer.ts';
import { askAll } from './ask-all.ts';
import { startAttemptSpan, withOrigin, type Attempt } from '../attempts/attempt-span.ts';
import type { Brought, Errand, ErrandAsk, ErrandRequest } from './errand.ts';
import { usageOfPrompt } from '../attempts/estimated-usage.ts';
import { billLost, type Books } from '../attempts/lost-attempts.ts';
import type { ExchangeParts } from '../parts.ts';

/** What an attempt at an errand works with. */
export interface ErrandPlace<Request extends ErrandRequest, Made> {
  readonly errand: Errand<Request, Made>;
  readonly parts: ExchangeParts;
  readonly books: Books;
}

/** How a provider is spoken to in one attempt. */
interface Line<Request, Made> extends RequestHead {
  readonly dialect: Dialect;
  readonly words: ErrandDialect<Request, Made>;
  readonly span: Span;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

/**
 * Asks one provider for all of an errand, in as many calls as it takes; none or all of it is brought.
 * Writes down what a provider took in vain.
 */
export async function attemptErrand<Request extends ErrandRequest, Made>(
  ask: ErrandAsk<Request>,
  attempt: Attempt,
  place: ErrandPlace<Request, Made>,
): Promise<Brought<Made>> {
  const { errand, parts } = place;
  const { target, trip } = attempt;
  const dialect = parts.dialects[target.provider.dialect];
  const words = errand.wordsOf(dialect);
  if (!words) throw new RangeError(`this dialect makes no ${errand.made}`);
  const head = await parts.headers.of(target.provider, trip.key, dialect);
  const { operation } = errand;
  const span = startAttemptSpan(parts.tracer, ask.span, { target, operation });
  const line = { ...head, dialect, words, span, startedAt: performance.now() };
  try {
    return await new ErrandAttempt(ask, attempt, { ...place, line }).run();
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

class ErrandAttempt<Request extends ErrandRequest, Made> {
  readonly #ask: ErrandAsk<Request>;
  readonly #attempt: Attempt;
  readonly #place: ErrandPlace<Request, Made> & { readonly line: Line<Request, Made> };
  readonly #brought: Made[] = [];

  constructor(
    ask: ErrandAsk<Request>,
    attempt: Attempt,
    place: ErrandPlace<Request, Made> & { readonly line: Line<Request, Made> },
  ) {
    this.#ask = ask;
    this.#attempt = attempt;
    this.#place = place;
  }

  async run(): Promise<Brought<Made>> {
    const { request } = this.#ask;
    const { cancellation } = this.#attempt;
    const { batches } = this.#place.errand;
    const { provider } = this.#attempt.target;
    const calls = batches?.cut(request, { dialect: this.#place.line.dialect, provider }) ?? [];
    if (!batches || calls.length <= 1) return await this.#call(request, cancellation);
    try {
      const all = await askAll(calls, (call, own) => this.#part(call, own), cancellation);
      return { made: batches.join(all, request), bytes: undefined };
    } catch (error) {
      this.#billBrought(error);
      throw error;
    }
  }

  async #part(request: Request, cancellation: Cancellation): Promise<Made> {
    const { made } = await this.#call(request, cancellation);
    this.#brought.push(made);
    return made;
  }

  async #call(request: Request, cancellation: Cancellation): Promise<Brought<Made>> {
    const { errand, parts, line, books } = this.#place;
    const { target } = this.#attempt;
    const { provider, model } = target;
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    try {
      const { path, body } = line.words.write(request, model.name);
      const written = { target, path, headers: line.headers, body: JSON.stringify(body) };
      const outgoing = withOrigin(written, { span: line.span, payer: this.#ask.payer });
      const { startedAt } = line;
      const timeoutMs = provider.timeouts.totalMs;
      const limits = { cancellation, timeoutMs, startedAt, onSent };
      const whole = await fetchWhole(parts.upstreams, outgoing, limits);
      parts.remoteLimits.note(provider, whole.headers);
      requireSuccess(line.dialect, whole);
      const { bytes } = whole;
      // An answer that does not name its model is of the one that was asked.
      const asked = { ...request, model: model.name };
      return { made: line.words.read(parseAnswer(provider.name, bytes), asked), bytes };
    } catch (error) {
      const usage = usageOfPrompt(errand.likely(request).inputTokens);
      const lost = { attempt: { target, cancellation }, error, usage };
      if (isSent) billLost(books, this.#ask.cancellation, lost);
      throw line.secrets.hideIn(error);
    }
  }

  /** What came of the calls that did not fail is paid for, though it is of no use. */
  #billBrought(error: unknown): void {
    const { errand, books } = this.#place;
    for (const made of this.#brought) {
      const usage = errand.usageOf(made, this.#ask.request);
      billLost(books, this.#ask.cancellation, { attempt: this.#attempt, error, usage });
    }
  }
}

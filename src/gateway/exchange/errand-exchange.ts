import { Fault } from '../../kit/errors.ts';
import { failSpan } from '../../kit/trace.ts';
import type { ProviderList } from '../providers/provider.ts';
import { parseAnswer, requireSuccess } from '../upstream/failed-answer.ts';
import { fetchWhole } from '../upstream/whole-answer.ts';
import { attemptOptions } from './asking.ts';
import { startAttemptSpan, withOrigin, type Attempt } from './attempt-span.ts';
import type { Won } from './attempts.ts';
import { LikelyMost, openBill } from './bill.ts';
import { Course } from './course.ts';
import type { Brought, Errand, ErrandAnswer, ErrandAsk, ErrandRequest } from './errand.ts';
import { ErrandTargets } from './errand-targets.ts';
import { usageOfPrompt } from './estimated-usage.ts';
import { billLost, type Books } from './lost-attempts.ts';
import type { ExchangeParts } from './parts.ts';

/** Takes errands of one kind to providers that can run them, and brings back what they made. */
export class ErrandExchange<Request extends ErrandRequest, Made> {
  readonly #errand: Errand<Request, Made>;
  readonly #parts: ExchangeParts;
  readonly #targets: ErrandTargets<Request, Made>;

  constructor(errand: Errand<Request, Made>, parts: ExchangeParts, providers: ProviderList) {
    this.#errand = errand;
    this.#parts = parts;
    this.#targets = new ErrandTargets(errand, parts.dialects, providers);
  }

  async run(ask: ErrandAsk<Request>): Promise<ErrandAnswer<Made>> {
    const course = new Course(ask.startedAt, this.#parts.metrics);
    try {
      return await this.#run(ask, course);
    } catch (error) {
      throw complainOf(this.#errand.textField, course.fail(error));
    }
  }

  async #run(given: ErrandAsk<Request>, course: Course): Promise<ErrandAnswer<Made>> {
    given.span.setAttribute('gen_ai.operation.name', this.#errand.operation);
    given.span.setAttribute('gen_ai.request.model', given.request.model);
    const request = this.#errand.guard(this.#parts.guardrails, given.request);
    const ask = { ...given, request };
    const candidates = this.#targets.candidates(ask.request);
    const likely = this.#errand.likely(ask.request);
    const bill = await openBill(ask, new LikelyMost(likely, candidates), this.#parts);
    let won: Won<Brought<Made>>;
    try {
      won = await this.#parts.attempts.run(
        candidates,
        attemptOptions(ask, this.#parts),
        (target, trip, cancellation) => {
          course.ask(target);
          return this.#receive(ask, { target, trip, cancellation }, { bill, course });
        },
      );
    } catch (error) {
      bill.abandon();
      throw error;
    }
    return this.#close(won, ask, { bill, course });
  }

  async #close(
    { value, target, trip }: Won<Brought<Made>>,
    { request }: ErrandAsk<Request>,
    { bill, course }: Books,
  ): Promise<ErrandAnswer<Made>> {
    const usage = this.#errand.usageOf(value.made, request);
    trip.succeeded(0);
    this.#parts.metrics.attempted(target.provider.name, 'success');
    const { cost, written } = bill.close({ target, usage, outcome: 'complete' });
    course.count();
    await written;
    return { ...value, target, usage, cost, attempts: course.attempts };
  }

  async #receive(
    { request, payer, span: parent, cancellation: caller }: ErrandAsk<Request>,
    attempt: Attempt,
    books: Books,
  ): Promise<Brought<Made>> {
    const { tracer, upstreams, dialects, headers: book, remoteLimits } = this.#parts;
    const { target, trip, cancellation } = attempt;
    const { provider, model } = target;
    const dialect = dialects[provider.dialect];
    const words = this.#errand.wordsOf(dialect);
    if (!words) throw new RangeError(`this dialect makes no ${this.#errand.made}`);
    const { headers, secrets } = await book.of(provider, trip.key, dialect);
    const span = startAttemptSpan(tracer, parent, { target, operation: this.#errand.operation });
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    try {
      const { path, body } = words.write(request, model.name);
      const written = { target, path, headers, body: JSON.stringify(body) };
      const outgoing = withOrigin(written, { span, payer });
      const timeoutMs = provider.timeouts.totalMs;
      const whole = await fetchWhole(upstreams, outgoing, { cancellation, timeoutMs, onSent });
      remoteLimits.note(provider, whole.headers);
      requireSuccess(dialect, whole);
      const { bytes } = whole;
      // An answer that does not name its model is of the one that was asked.
      const asked = { ...request, model: model.name };
      return { made: words.read(parseAnswer(provider.name, bytes), asked), bytes };
    } catch (error) {
      const usage = usageOfPrompt(this.#errand.likely(request).inputTokens);
      if (isSent) billLost(books, caller, { attempt, error, usage });
      const shown = secrets.hideIn(error);
      failSpan(span, shown);
      throw shown;
    } finally {
      span.end();
    }
  }
}

/** Complaints about texts name `messages`, where chats have theirs. */
function complainOf(textField: string, fault: Fault): Fault {
  if (fault.detail['param'] !== 'messages') return fault;
  const { code, message, reason, status, retryAfter, cause } = fault;
  return new Fault(code, message, {
    status,
    detail: { ...fault.detail, param: textField },
    ...(cause !== undefined && { cause }),
    ...(reason !== undefined && { reason }),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

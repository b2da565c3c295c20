import { Fault } from '../../../kit/errors.ts';
import type { ProviderList } from '../../providers/provider.ts';
import { attemptOptions } from '../asking.ts';
import type { Won } from '../attempts/attempts.ts';
import { LikelyMost, openBill } from '../bill.ts';
import { Course } from '../course.ts';
import type { Brought, Errand, ErrandAnswer, ErrandAsk, ErrandRequest } from './errand.ts';
import { attemptErrand } from './errand-attempt.ts';
import { ErrandTargets } from './errand-targets.ts';
import type { Books } from '../attempts/lost-attempts.ts';
import type { ExchangeParts } from '../parts.ts';

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
      won = await this.#parts.attempts.run(candidates, attemptOptions(ask, this.#parts), {
        ask: (target, trip, cancellation) => {
          course.ask(target);
          const place = { errand: this.#errand, parts: this.#parts, books: { bill, course } };
          return attemptErrand(ask, { target, trip, cancellation }, place);
        },
      });
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

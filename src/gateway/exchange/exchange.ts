import { PushedAnswer } from '../../kit/pushed-answer.ts';
import type { Lookup } from '../cache/answer-cache.ts';
import type { Plan } from '../routing/plan.ts';
import { noHeaders, prepare, type ChatAsk, type PreparedAsk } from './ask.ts';
import { Asking } from './asking.ts';
import { openBill } from './bill.ts';
import { Course } from './course.ts';
import { giveHit, tellHit } from './hits.ts';
import type { CompletedChat, ExchangeParts, Provenance } from './parts.ts';
import { askStream } from './stream-asking.ts';
import { askWhole } from './whole-asking.ts';

type Unanswered = Exclude<Lookup, { readonly state: 'hit' }>;

/**
 * Takes chats to providers and brings answers back: through the guardrails, the cache, the router and
 * as many attempts as it takes, with what they cost written down.
 */
export class Exchange {
  readonly #parts: ExchangeParts;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** The whole answer at once. */
  async complete(ask: ChatAsk): Promise<CompletedChat> {
    const course = new Course(ask.startedAt, this.#parts.metrics);
    try {
      const asked = prepare(ask, this.#parts.guardrails);
      const lookup = await this.#lookUp(asked);
      if (lookup.state === 'hit') return await giveHit(asked, lookup, this.#parts);
      return await this.#askAnew(asked, { lookup, course }, (asking) => askWhole(asked, asking));
    } catch (error) {
      throw course.fail(error);
    }
  }

  /**
   * The answer as it comes. `tellHead` is called once it is known who answers; what fails before is
   * thrown, what fails later is told as the stream's last event.
   */
  stream(ask: ChatAsk, tellHead: (provenance: Provenance) => void): PushedAnswer {
    const course = new Course(ask.startedAt, this.#parts.metrics);
    return new PushedAnswer('text/event-stream; charset=utf-8', async (sink) => {
      const edge = { sink, tellHead };
      try {
        const asked = prepare(ask, this.#parts.guardrails);
        const lookup = await this.#lookUp(asked);
        if (lookup.state === 'hit')
          return await tellHit(asked, lookup, { edge, parts: this.#parts });
        await this.#askAnew(asked, { lookup, course }, (asking) => askStream(asked, asking, edge));
      } catch (error) {
        throw course.fail(error);
      }
    });
  }

  /** Asks providers, with money held for it, and with those in mind who wait for the same answer. */
  async #askAnew<T>(
    asked: PreparedAsk,
    { lookup, course }: { readonly lookup: Unanswered; readonly course: Course },
    ask: (asking: Asking) => Promise<T>,
  ): Promise<T> {
    try {
      const plan = this.#plan(asked);
      using bill = await openBill(asked, plan, this.#parts);
      return await ask(new Asking({ parts: this.#parts, plan, bill, course, lookup }));
    } catch (error) {
      if (lookup.state === 'miss') lookup.fill.abandon();
      throw error;
    }
  }

  #lookUp(asked: PreparedAsk): Lookup | Promise<Lookup> {
    const { payer, body, request, wish } = asked;
    return this.#parts.cache.lookup({
      tenant: payer.subject,
      face: wordsOf(asked),
      body,
      temperature: request.temperature,
      wish,
      cancellation: asked.cancellation,
    });
  }

  #plan(asked: PreparedAsk): Plan {
    const { request, strategy, fallbacks, span, face, isChanged, guard } = asked;
    span.setAttributes({ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': request.model });
    // Upstreams of the face's own dialect get every field as it came.
    const mustWord = isChanged || guard || request.needsTranslation;
    const dialect = mustWord ? undefined : face.dialect;
    return this.#parts.router.plan({ request, strategy, fallbacks, dialect });
  }
}

/** What an answer's words depend on beside the body. */
function wordsOf({ face, isAnnotated, headers }: PreparedAsk): string {
  const name = isAnnotated ? `${face.name}+` : face.name;
  return headers === noHeaders ? name : name + JSON.stringify(headers);
}

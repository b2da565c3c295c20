import { Fault } from '../../kit/errors.ts';
import { PushedAnswer } from '../../kit/answers/pushed-answer.ts';
import type { WrittenBytes } from '../../kit/answers/written-json.ts';
import type { Lookup } from '../cache/answer-cache.ts';
import type { Plan } from '../routing/plan.ts';
import { noHeaders, prepare, type ChatAsk, type PreparedAsk } from './ask.ts';
import { Asking } from './asking.ts';
import { mostOf, openBill } from './bill.ts';
import { Course } from './course.ts';
import { giveHit, tellHit } from './hits.ts';
import type { ExchangeParts, TellHead } from './parts.ts';
import type { StreamEdge } from './streams/passage.ts';
import { askStream } from './streams/stream-asking.ts';
import { askWhole } from './whole-asking.ts';

type Hit = Extract<Lookup, { readonly state: 'hit' }>;

/** How an answer gets to its caller: all at once, or as it comes. */
interface Answering<T> {
  readonly give: (asked: PreparedAsk, hit: Hit) => Promise<T>;
  readonly ask: (asked: PreparedAsk, asking: Asking) => Promise<T>;
}

/**
 * Takes chats to providers and brings answers back: through the guardrails, the cache, the router and
 * as many attempts as it takes, with what they cost written down.
 */
export class Exchange {
  readonly #parts: ExchangeParts;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** The whole answer at once. `tellHead` is called when it is there, just before it is given. */
  complete(ask: ChatAsk, tellHead: TellHead): Promise<WrittenBytes> {
    return this.#answer(ask, {
      give: (asked, hit) => giveHit(asked, hit, { tellHead, parts: this.#parts }),
      ask: (asked, asking) => askWhole(asked, asking, tellHead),
    });
  }

  /**
   * The answer as it comes. `tellHead` is called once it is known who answers; what fails before is
   * thrown, what fails later is told as the stream's last event.
   */
  stream(ask: ChatAsk, tellHead: TellHead): PushedAnswer {
    return new PushedAnswer('text/event-stream; charset=utf-8', (sink) =>
      this.#push(ask, { sink, tellHead }),
    );
  }

  #push(ask: ChatAsk, edge: StreamEdge): Promise<void> {
    return this.#answer(ask, {
      give: (asked, hit) => tellHit(asked, hit, { edge, parts: this.#parts }),
      ask: (asked, asking) => askStream(asked, asking, edge),
    });
  }

  /**
   * From the cache, or from whoever a plan names, with money held for it. What is held, and those who
   * wait for the same answer, are let go where that fails.
   */
  async #answer<T>(ask: ChatAsk, answering: Answering<T>): Promise<T> {
    const course = new Course(ask.startedAt, this.#parts.metrics);
    let held: Pick<Asking, 'abandon' | 'decline'> | undefined;
    try {
      const asked = prepare(ask, this.#parts.guardrails);
      // A promise takes longer than all that is known at once.
      const found = this.#lookUp(asked);
      const lookup = found instanceof Promise ? await found : found;
      this.#parts.metrics.cacheAsked(lookup.state);
      if (lookup.state === 'hit') return await answering.give(asked, lookup);
      if (lookup.state === 'miss') held = lookup.fill;
      const planned = this.#planOrLookAgain(asked);
      const plan = planned instanceof Promise ? await planned : planned;
      const opened = openBill(asked, mostOf(asked, plan), this.#parts);
      const bill = opened instanceof Promise ? await opened : opened;
      const asking = new Asking({ parts: this.#parts, plan, bill, course, lookup });
      held = asking;
      return await answering.ask(asked, asking);
    } catch (error) {
      if (ask.cancellation.isCancelled) held?.abandon();
      else held?.decline();
      throw course.fail(error);
    }
  }

  /** A model that was pulled just now, or a runtime that started just now, is found too. */
  #planOrLookAgain(asked: PreparedAsk): Plan | Promise<Plan> {
    try {
      return this.#plan(asked);
    } catch (error) {
      const isMissing = error instanceof Fault && error.code === 'not_found';
      const looking = isMissing ? this.#parts.lookAgain() : undefined;
      if (!looking) throw error;
      return looking.then(() => this.#plan(asked));
    }
  }

  /** At once where the cache has it in memory: a promise takes longer than that. */
  #lookUp(asked: PreparedAsk): Lookup | Promise<Lookup> {
    const { payer, body, request, wish } = asked;
    return this.#parts.cache.lookup({
      tenant: payer.subject,
      face: wordsOf(asked),
      body,
      text: asked.text,
      temperature: request.temperature,
      wish,
      cancellation: asked.cancellation,
    });
  }

  #plan(asked: PreparedAsk): Plan {
    const { request, strategy, fallbacks, span, face, isChanged, guard } = asked;
    span.setAttribute('gen_ai.operation.name', 'chat');
    span.setAttribute('gen_ai.request.model', request.model);
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

import { Fault } from '../../../kit/errors.ts';
import type { AnswerSink } from '../../../kit/answers/pushed-answer.ts';
import { dollarsOf, picodollarsOf } from '../../../kit/prices/pricing.ts';
import type { Answer, AnswerEvent, Usage } from '../../conversation/answer.ts';
import { collectAnswer } from '../../conversation/collect.ts';
import { UpstreamError } from '../../dialects/upstream-error.ts';
import type { Trip } from '../../measure/stations.ts';
import type { Target } from '../../providers/provider.ts';
import { unwanted, type AnswerStream } from '../../upstream/answer-stream.ts';
import type { Kept } from '../../upstream/intake.ts';
import type { PreparedAsk } from '../ask.ts';
import type { Asking } from '../asking.ts';
import type { BillItem } from '../bill.ts';
import { isWhole, toCached } from '../cached-answers.ts';
import { conclude } from '../attempts/conclusion.ts';
import { planContinuation, type Continuation, type Rest } from './continuation.ts';
import { addUsage, estimateUsage, withPrompt } from '../attempts/estimated-usage.ts';
import type { TellHead } from '../parts.ts';
import { GrowingBill } from './growing-bill.ts';
import { Relay, type Note } from './relay.ts';
import { wordAnswer, writeBody } from '../wording.ts';

/** Where a streamed answer goes. */
export interface StreamEdge {
  readonly sink: AnswerSink;
  readonly tellHead: TellHead;
}

/** A stream that has begun, and who sends it. */
export interface Running {
  readonly stream: AnswerStream;
  readonly target: Target;
  readonly trip: Trip;
  /** How it follows on what another stream brought; absent for the first one. */
  readonly rest?: Rest;
}

/** Asks the candidates for the rest of an answer; undefined when none of them begins. */
export type AskForRest = (continuation: Continuation) => Promise<Running | undefined>;

/**
 * One streamed answer on its way to the caller. When its provider breaks it off, another goes on with
 * it where that can be done, else its last event says that it is not complete.
 */
export class Passage {
  readonly #asked: PreparedAsk;
  readonly #asking: Asking;
  readonly #relay: Relay;
  readonly #firstTokenAt = performance.now();
  /** What the caller has from streams that broke. */
  readonly #before: AnswerEvent[] = [];
  readonly #failed = new Set<Target>();
  /** What streams that broke took together: tokens, and money in picodollars. */
  #lostUsage: Usage | undefined;
  #lostMoney = 0;
  /** What the stream that goes on with an answer brought, as the caller got it. */
  #resumed: AnswerEvent[] = [];
  #target: Target | undefined;
  #rest: Rest | undefined;

  constructor(asked: PreparedAsk, asking: Asking, sink: AnswerSink) {
    this.#asked = asked;
    this.#asking = asking;
    this.#relay = new Relay({
      asked,
      sink,
      slowReaders: asking.parts.slowReaders,
      noteOf: (stream) => this.#noteOf(stream),
      usageOf: (stream) => addUsage(this.#lostUsage, this.#usageOf(stream)),
    });
  }

  async run(first: Running, askForRest: AskForRest): Promise<void> {
    let running: Running | undefined = first;
    while (running) {
      const error = await this.#follow(running);
      if (error === undefined) return await this.#complete(running);
      running = await this.#recover(running, error, askForRest);
    }
  }

  /** Passes a stream on to its end; answers what broke it. */
  async #follow(running: Running): Promise<unknown> {
    const { stream, target, rest } = running;
    this.#target = target;
    this.#rest = rest;
    const growing = new GrowingBill(() => this.#asking.bill.keep(this.#soFar(running)));
    try {
      if (rest) await this.#resume(stream, rest);
      else await this.#relay.follow(stream);
      return undefined;
    } catch (error) {
      // Whatever becomes of a provider whose answer is over breaks nothing.
      if (rest?.isStopped && error instanceof UpstreamError) return undefined;
      return error ?? new Error('the stream broke');
    } finally {
      growing[Symbol.dispose]();
    }
  }

  /** Passes a second half on; rejects, too, when a stop sequence ended the answer before its provider. */
  async #resume(stream: AnswerStream, rest: Rest): Promise<void> {
    this.#relay.resumeAfter(this.#before);
    this.#resumed = [];
    await this.#relay.follow(stream, (pieces) => {
      const adapted = rest.adapt(pieces);
      this.#resumed.push(...adapted);
      if (rest.isStopped) stream.abort(unwanted());
      return adapted;
    });
  }

  /** The end is held back until it is written down what the answer took. */
  async #complete({ stream, target, trip }: Running): Promise<void> {
    const { parts, cached } = this.#asking;
    const usage = this.#usageOf(stream);
    trip.succeeded(usage.outputTokens);
    parts.metrics.attempted(target.provider.name, 'success');
    await this.#close({ target, usage, outcome: 'complete' });
    if (!stream.isEnded) this.#relay.endInPlaceOf(stream);
    this.#relay.release();
    if (cached.fill) this.#keep(stream, { target, usage });
  }

  /** What a provider took of whom no more may come. */
  #soFar({ stream, target }: Running): Took {
    const { inputTokens } = this.#asking.plan;
    return { target, usage: estimateUsage(readable(stream), inputTokens, stream.usage) };
  }

  #usageOf(stream: AnswerStream): Usage {
    const { inputTokens } = this.#asking.plan;
    const { usage } = stream;
    const isCounted = usage !== undefined && (!usage.isEstimated || usage.outputTokens > 0);
    if (isCounted && !this.#rest?.isStopped) return withPrompt(usage, inputTokens);
    return estimateUsage(readable(stream), inputTokens, usage);
  }

  /** What goes on where a stream broke; undefined when that is the end, which is written then. */
  async #recover(
    broken: Running,
    error: unknown,
    askForRest: AskForRest,
  ): Promise<Running | undefined> {
    const { stream, target, trip } = broken;
    const kept = readable(stream);
    const usage = estimateUsage(kept, this.#asking.plan.inputTokens, stream.usage);
    if (this.#asked.cancellation.isCancelled) {
      trip.forgotten();
      return this.#leave({ target, usage });
    }
    if (!(error instanceof UpstreamError)) {
      const fault = Fault.from(error);
      stream.abort(fault);
      trip.forgotten();
      return this.#giveUp(fault, { target, usage, outcome: 'failed' });
    }
    trip.failed(error.failure);
    this.#asking.parts.metrics.attempted(target.provider.name, error.failure.kind);
    const soFar = kept.share < 1 ? [] : kept.pieces;
    this.#before.push(...(broken.rest ? this.#resumed : soFar));
    this.#failed.add(target);
    const next = await this.#continue({ target, usage }, askForRest);
    const item = { target, usage, outcome: 'failed' } as const;
    if (!next) return this.#giveUp(conclude([{ target, failure: error.failure }]), item);
    this.#asking.bill.add(item);
    this.#lostUsage = addUsage(this.#lostUsage, usage);
    this.#lostMoney += picodollarsOf(usage, target.model.prices);
    return next;
  }

  async #continue(broken: Took, askForRest: AskForRest): Promise<Running | undefined> {
    const { plan, parts } = this.#asking;
    const state = { soFar: this.#before, failed: this.#failed };
    const continuation = planContinuation(this.#asked, state, { plan, dialects: parts.dialects });
    try {
      return continuation && (await askForRest(continuation));
    } catch (error) {
      if (!this.#asked.cancellation.isCancelled) throw error;
      return this.#leave(broken);
    }
  }

  /** A caller that has gone hears nothing of it; one that is there must not take it for the end. */
  async #leave({ target, usage }: Took): Promise<never> {
    await this.#close({ target, usage, outcome: 'aborted' });
    const fault = Fault.from(this.#asked.cancellation.reason);
    this.#relay.fail(fault);
    throw fault;
  }

  /** The last event says that the answer is not complete. */
  async #giveUp(fault: Fault, item: BillItem): Promise<never> {
    await this.#close(item);
    this.#relay.fail(fault);
    throw fault;
  }

  /** Done when it is written down. */
  async #close({ target, usage, outcome }: BillItem): Promise<void> {
    const firstTokenAt = this.#firstTokenAt;
    const { written } = this.#asking.bill.close({ target, usage, outcome, firstTokenAt });
    this.#asking.course.count();
    await written;
  }

  #keep(stream: AnswerStream, from: { readonly target: Target; readonly usage: Usage }): void {
    const { fill } = this.#asking.cached;
    if (!fill) return;
    const answer = this.#wholeAnswer(stream);
    if (!answer || !isWhole(answer)) return fill.decline();
    const body = this.#asked.face.dialect
      ? writeBody(this.#asked, wordAnswer(this.#asked, answer), from)
      : Buffer.from(JSON.stringify({ answer }));
    fill.store(toCached(body, from, this.#asking.parts.sources));
  }

  /** None of two halves, and none that was too long to be kept. */
  #wholeAnswer(stream: AnswerStream): Answer | undefined {
    try {
      const { pieces, share } = stream.kept();
      return this.#before.length === 0 && share === 1 ? collectAnswer(pieces) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whoever answers now, and what all took who had a part in the answer. */
  #noteOf(stream: AnswerStream): Note {
    const target = this.#target;
    if (!target) throw new RangeError('nothing came yet');
    const money = picodollarsOf(this.#usageOf(stream), target.model.prices);
    return { provider: target.provider.name, cost: dollarsOf(this.#lostMoney + money) };
  }
}

/** What one provider took. */
type Took = Pick<BillItem, 'target' | 'usage'>;

/** What of a stream can be read again: nothing, where it makes no sense. */
function readable(stream: AnswerStream): Kept {
  try {
    return stream.kept();
  } catch {
    return { pieces: [], share: 1 };
  }
}

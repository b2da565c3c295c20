import type { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { Usage } from '../conversation/answer.ts';
import { replayAnswer } from '../conversation/replay.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { parseExact } from '../dialects/exact-json.ts';
import { UpstreamError } from '../dialects/upstream-error.ts';
import type { Target, Timeouts } from '../providers/provider.ts';
import { EventCutter, isWhole } from './event-cutter.ts';
import { parseAnswer, requireSuccess } from './failed-answer.ts';
import { PieceIntake, RawIntake, WholeIntake, type Intake, type StreamConsumer } from './intake.ts';
import { upToLastWord } from './last-word.ts';
import type { Secrets } from './secrets.ts';
import { settler } from './settler.ts';
import type { AnswerHeaders, Ongoing, Outgoing, UpstreamListener, Upstreams } from './upstreams.ts';

export interface AnswerStreamOptions {
  readonly dialect: Dialect;
  /** Events go through as bytes, unread but for what must be known of them. */
  readonly isRaw: boolean;
  readonly timeouts: Timeouts;
  /** Cut out of what the provider says when it fails. */
  readonly secrets: Secrets;
  /** Told of the head of the answer. */
  readonly onHead: (headers: AnswerHeaders) => void;
}

const wholeBytesMax = 16 * 1024 * 1024;
/** How long a provider may keep the connection open behind its last word. */
const lingerMs = 1_000;
const blankLine = Buffer.from('\n\n');

/**
 * The answer of a provider as it streams in; what comes is kept until somebody consumes it. Whatever
 * goes wrong becomes one UpstreamError: an error answer, an error event, silence, and an end before
 * the answer's own. A Fault is its consumer's, who takes no more of it.
 */
export class AnswerStream implements UpstreamListener {
  /** Resolves with the first piece of the answer itself. */
  readonly beginning: Promise<void>;
  /** Resolves when the answer is complete. */
  readonly completion: Promise<void>;
  /** The request went out: it may cost something. */
  isSent = false;
  readonly #provider: string;
  readonly #model: string;
  readonly #options: AnswerStreamOptions;
  readonly #cutter: EventCutter;
  readonly #begun = settler();
  readonly #completed = settler();
  readonly #totalTimer: NodeJS.Timeout;
  #intake: Intake;
  #timer: NodeJS.Timeout;
  #ongoing: Ongoing | undefined;
  #arrived: Buffer[] = [];
  #status = 0;
  #headers: AnswerHeaders = {};
  /** Chunks of an answer that is no stream: an error, or all at once. */
  #whole: Buffer[] | undefined;
  #cancellation: Cancellation | undefined;
  /** When its last piece came. */
  #lastAt = 0;
  #isBegun = false;
  #isOver = false;

  private constructor({ provider, model }: Target, options: AnswerStreamOptions) {
    const { dialect, isRaw, timeouts } = options;
    const source = { dialect, model: model.name };
    this.#provider = provider.name;
    this.#model = model.name;
    this.#options = options;
    this.#cutter = new EventCutter(dialect.framing);
    this.#intake = isRaw ? new RawIntake(source) : new PieceIntake(source);
    this.beginning = this.#begun.promise;
    this.completion = this.#completed.promise;
    this.#timer = setTimeout(this.#beLate, timeouts.firstTokenMs);
    this.#totalTimer = setTimeout(this.#beLate, timeouts.totalMs);
  }

  /** Sends the request. */
  static open(
    upstreams: Upstreams,
    outgoing: Outgoing,
    options: AnswerStreamOptions,
  ): AnswerStream {
    const stream = new AnswerStream(outgoing.target, options);
    stream.#ongoing = upstreams.send(outgoing, stream);
    return stream;
  }

  /** The provider's own count, once it came. */
  get usage(): Usage | undefined {
    return this.#intake.usage;
  }

  /** The provider's own last word came. */
  get isEnded(): boolean {
    return this.#intake.isEnded;
  }

  /** The event that ends an answer of this provider; empty where there is none. */
  get lastEvent(): string {
    return this.#options.dialect.lastWord?.event ?? '';
  }

  /** Gives the consumer what has come, and all that comes. */
  consume(consumer: StreamConsumer): void {
    this.#intake.consume(consumer);
  }

  /** What has come so far; throws UpstreamError for a piece that makes no sense. */
  kept(): ReturnType<Intake['kept']> {
    return this.#intake.kept();
  }

  /** Gives the answer up as soon as its caller has gone. */
  abortWith(cancellation: Cancellation): void {
    this.#cancellation = cancellation;
    cancellation.onCancel(this.#leave);
  }

  /** Gives the answer up. */
  abort(error: UpstreamError | Fault): void {
    this.#finish(error);
    this.#ongoing?.abort(error instanceof Fault ? unwanted() : error);
  }

  sent(): void {
    this.isSent = true;
  }

  head(status: number, headers: AnswerHeaders): void {
    this.#status = status;
    this.#headers = headers;
    this.#options.onHead(headers);
    const isStream = status >= 200 && status < 300 && !isJson(headers, this.#options.dialect);
    if (!isStream) this.#whole = [];
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#whole) return this.#collect(this.#whole, chunk);
    // What one read of the socket brings is looked at, and passed on, together.
    this.#arrived.push(chunk);
    if (this.#arrived.length === 1) queueMicrotask(this.#takeArrived);
  }

  ended(): void {
    this.#takeArrived();
    if (this.#isOver) return clearTimeout(this.#timer);
    this.#try(() => {
      if (this.#whole) return this.#readWhole(Buffer.concat(this.#whole));
      const rest = this.#cutter.rest();
      // Some servers forget the blank line behind their last event.
      if (rest && isWhole(rest, this.#options.dialect.framing))
        this.#take(Buffer.concat([rest, blankLine]));
      if (this.#isOver) return;
      this.#requireComplete();
      this.#finish();
    });
  }

  failed(error: UpstreamError): void {
    this.#takeArrived();
    clearTimeout(this.#timer);
    // Who breaks the connection after the answer has broken nothing.
    if (this.#intake.isComplete) this.#finish();
    else this.#finish(error);
  }

  readonly #takeArrived = (): void => {
    const [first] = this.#arrived;
    if (!first) return;
    const chunk = this.#arrived.length === 1 ? first : Buffer.concat(this.#arrived);
    this.#arrived = [];
    if (this.#isOver) return;
    this.#try(() => {
      const events = this.#cutter.push(chunk);
      if (events) this.#take(events);
    });
  };

  #take(events: Buffer): void {
    const intake = this.#intake;
    intake.take(upToLastWord(events, this.#options.dialect.lastWord));
    // First, so that somebody else is asked where nothing has been passed on.
    if (intake.isEnded) this.#requireComplete();
    if (!this.#isBegun && intake.isStarted) this.#begin();
    else if (this.#isBegun && this.#isTelling(events)) this.#lastAt = performance.now();
    if (intake.isEnded) {
      this.#finish();
      this.#timer = setTimeout(() => this.#leaveOff(), lingerMs);
    }
  }

  /** Whether there is more to it than comments, which only keep the connection open. */
  #isTelling(events: Buffer): boolean {
    return this.#options.dialect.framing === 'lines' || events.includes('data:');
  }

  #requireComplete(): void {
    if (this.#intake.isComplete) return;
    throw UpstreamError.of('truncated', `${this.#provider} ended before its answer did`);
  }

  #begin(): void {
    this.#isBegun = true;
    clearTimeout(this.#timer);
    this.#lastAt = performance.now();
    this.#timer = setTimeout(this.#beIdle, this.#options.timeouts.idleMs);
    this.#begun.resolve();
  }

  #collect(whole: Buffer[], chunk: Buffer): void {
    whole.push(chunk);
    const size = whole.reduce((sum, { length }) => sum + length, 0);
    if (size <= wholeBytesMax) return;
    this.abort(UpstreamError.of('broken', `the answer of ${this.#provider} is too large`));
  }

  /** An error, or an answer from a provider that does not stream. */
  #readWhole(bytes: Buffer): void {
    const { dialect } = this.#options;
    requireSuccess(dialect, { status: this.#status, headers: this.#headers, bytes });
    const answer = dialect.readAnswer(parseAnswer(this.#provider, bytes, parseExact));
    const named = { ...answer, model: answer.model || this.#model };
    this.#intake = new WholeIntake(replayAnswer(named), answer.usage);
    this.#begin();
    this.#finish();
  }

  #try(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.abort(this.#reasonOf(error));
    }
  }

  #reasonOf(error: unknown): UpstreamError | Fault {
    if (error instanceof Fault) return error;
    const shown = this.#options.secrets.hideIn(error);
    if (shown instanceof UpstreamError) return shown;
    const message = `${this.#provider} sent a stream that makes no sense`;
    return UpstreamError.of('broken', message, { cause: error });
  }

  /** A timer that is set anew for every piece would cost more than all else that is done for it. */
  readonly #beIdle = (): void => {
    const leftMs = this.#lastAt + this.#options.timeouts.idleMs - performance.now();
    if (leftMs <= 1) this.#beLate();
    else this.#timer = setTimeout(this.#beIdle, leftMs);
  };

  readonly #beLate = (): void => {
    // Who falls silent behind the whole answer owes nobody a word.
    if (this.#intake.isComplete) return this.#leaveOff();
    const what = this.#isBegun ? 'stopped in the middle of its answer' : 'sent no token in time';
    this.abort(UpstreamError.of('late', `${this.#provider} ${what}`));
  };

  #leaveOff(): void {
    this.#finish();
    this.#ongoing?.abort(lingered(this.#provider));
  }

  readonly #leave = (): void => {
    this.abort(UpstreamError.of('late', 'the caller gave up'));
  };

  #finish(error?: UpstreamError | Fault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancellation?.offCancel(this.#leave);
    clearTimeout(this.#timer);
    clearTimeout(this.#totalTimer);
    if (!error) {
      // An answer may end without a piece of its own: it is complete all the same.
      this.#begun.resolve();
      this.#completed.resolve();
      return;
    }
    this.#begun.reject(error);
    this.#completed.reject(error);
  }
}

function isJson(headers: AnswerHeaders, { framing }: Dialect): boolean {
  const type = String(headers['content-type'] ?? '');
  return framing === 'events' && type.startsWith('application/json');
}

/** Why a stream is given up of which enough came. */
export function unwanted(): UpstreamError {
  return UpstreamError.of('late', 'the rest of the answer is not wanted');
}

function lingered(provider: string): UpstreamError {
  return UpstreamError.of('broken', `${provider} keeps the connection open behind its answer`);
}

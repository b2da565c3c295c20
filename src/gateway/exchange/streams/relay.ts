import { Fault } from '../../../kit/errors.ts';
import type { AnswerSink } from '../../../kit/answers/pushed-answer.ts';
import { parseEvents } from '../../../kit/answers/sse.ts';
import type { AnswerEvent, Usage } from '../../conversation/answer.ts';
import type { FaceStream } from '../../faces/face.ts';
import type { StreamGuard } from '../../guardrails/guardrail.ts';
import type { AnswerStream } from '../../upstream/answer-stream.ts';
import type { StreamConsumer } from '../../upstream/intake.ts';
import type { PreparedAsk } from '../ask.ts';
import type { SlowReader, SlowReaders } from './slow-readers.ts';

const waitingBytesMax = 8 * 1024 * 1024;

export interface RelayOptions {
  readonly asked: PreparedAsk;
  readonly sink: AnswerSink;
  readonly slowReaders: SlowReaders;
  /** What to say of the provider and the cost, once the stream has counted. */
  readonly noteOf: (stream: AnswerStream) => Note;
  /**
   * Tokens of the whole answer, of what streams before this one took too: providers' counts, or ours
   * where they give none.
   */
  readonly usageOf: (stream: AnswerStream) => Usage;
}

/** Who answered, and what it cost in US dollars. */
export interface Note {
  readonly provider: string;
  readonly cost: number;
}

/** Turns the pieces of a stream into those that the caller is to get. */
type Adapt = (pieces: readonly AnswerEvent[]) => readonly AnswerEvent[];

/**
 * Passes a streamed answer on to the caller: bytes as they are where both speak the same dialect,
 * pieces in the words of the caller's face otherwise. One stream may be followed by another that goes
 * on with its answer. For a caller who reads slowly up to 8 MiB wait in memory; beyond that it is told
 * that the answer ends there.
 */
export class Relay implements StreamConsumer, SlowReader {
  readonly #options: RelayOptions;
  readonly #guard: StreamGuard | undefined;
  /** OpenAI's usage is annotated, or was not asked for by the caller. */
  readonly #editsUsage: boolean;
  #stream: AnswerStream | undefined;
  #adapt: Adapt | undefined;
  #writer: FaceStream | undefined;
  /** The end of the stream, until it is written down what it took. */
  #held: (Buffer | string)[] | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { face, isAnnotated, request } = options.asked;
    this.#editsUsage = face.dialect === 'openai' && (isAnnotated || !request.wantsUsage);
    this.#guard = options.asked.guard?.openStream();
  }

  get waitingBytes(): number {
    return this.#options.sink.waitingBytes;
  }

  drop(): void {
    const { asked, sink } = this.#options;
    asked.cancellation.cancel(readsTooSlowly());
    sink.drop();
  }

  /** Resolves when the stream is complete; rejects with what broke it. */
  async follow(stream: AnswerStream, adapt?: Adapt): Promise<void> {
    this.#stream = stream;
    this.#adapt = adapt;
    this.#held = undefined;
    stream.consume(this);
    await stream.completion;
  }

  /** From now on the answer comes in pieces, the first of which the caller has already. */
  resumeAfter(soFar: readonly AnswerEvent[]): void {
    if (this.#writer) return;
    this.#writer = this.#openWriter();
    for (const piece of soFar) this.#writer.write(piece);
  }

  /** Writes the end that the provider itself did not say in so many words. */
  endInPlaceOf(stream: AnswerStream): void {
    const words = wordsOf(stream);
    if (words) this.#end(words);
    else this.#write(stream.lastEvent);
  }

  bytes(came: Buffer, mayHoldUsage: boolean): void {
    const events = this.#options.asked.isAnnotated ? withPlainLines(came) : came;
    const mustEdit = mayHoldUsage && this.#editsUsage && hasUsage(events);
    const edited = mustEdit ? this.#edit(events) : events;
    const isWritten = this.#lacksCount() && this.#endCounted(edited.toString());
    if (!isWritten) this.#write(edited);
  }

  pieces(pieces: readonly AnswerEvent[]): void {
    this.#writer ??= this.#openWriter();
    const writer = this.#writer;
    let text = '';
    try {
      for (const piece of this.#counted(this.#adapt?.(pieces) ?? pieces)) {
        for (const allowed of this.#guard?.see(piece) ?? [piece]) text += writer.write(allowed);
      }
    } catch (error) {
      // What was allowed before a guard refused stands in front of the refusal; no end is in it.
      if (text !== '') this.#send(this.#worded(text));
      throw error;
    }
    this.#write(this.#worded(text));
  }

  /** Writes that the answer is not complete: the last event. */
  fail(fault: Fault): void {
    const { sink, asked } = this.#options;
    sink.write(asked.face.writeFailure(fault, this.#writer?.eventCount ?? 0));
  }

  /** Sends what was held back: the end of the stream. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const piece of held ?? []) this.#send(piece);
  }

  /** What the pieces took stands before their end, also where the provider does not count it. */
  #counted(pieces: readonly AnswerEvent[]): readonly AnswerEvent[] {
    const stream = this.#stream;
    if (!stream) return pieces;
    return pieces.flatMap((piece): readonly AnswerEvent[] => {
      const isGuess = piece.type === 'usage' && (isGuessed(piece.usage) || this.#adapt);
      const isUncounted = piece.type === 'end' && stream.usage === undefined;
      if (!isGuess && !isUncounted) return [piece];
      const usage: AnswerEvent = { type: 'usage', usage: this.#options.usageOf(stream) };
      return isGuess ? [usage] : [usage, piece];
    });
  }

  /**
   * Whether a stream has ended and counted nothing: the interface's own endpoint tells its tokens to
   * who asks for them all the same.
   */
  #lacksCount(): boolean {
    const { isAnnotated, request } = this.#options.asked;
    const stream = this.#stream;
    return isAnnotated && request.wantsUsage === true && !!stream?.isEnded && !stream.usage;
  }

  /** Writes bytes that hold the stream's last word, our count in front of it; else says no. */
  #endCounted(events: string): boolean {
    const last = events.search(lastWord);
    const words = last < 0 || !this.#stream ? undefined : wordsOf(this.#stream);
    if (!words) return false;
    this.#write(events.slice(0, last));
    this.#end(words);
    return true;
  }

  #end(soFar: readonly AnswerEvent[]): void {
    this.resumeAfter(soFar);
    this.pieces([{ type: 'end' }]);
  }

  #worded(text: string): string {
    if (!this.#options.asked.isAnnotated) return text;
    const stream = this.#stream;
    if (findUsage(text, 0) < 0 || !stream) return text;
    return annotateUsage(text, this.#options.noteOf(stream));
  }

  /** OpenAI's chunks with the usage: annotated, or left out where the caller did not ask for it. */
  #edit(events: Buffer): string {
    const { asked, noteOf } = this.#options;
    const stream = this.#stream;
    const about = asked.isAnnotated && stream?.usage ? noteOf(stream) : undefined;
    return editUsage(events.toString(), (event) => {
      if (!asked.request.wantsUsage && isUsageAlone(event)) return '';
      return about ? note(event, about) : event;
    });
  }

  #openWriter(): FaceStream {
    const { face, request } = this.#options.asked;
    return face.openStream(request);
  }

  #write(piece: Buffer | string): void {
    if (piece.length === 0) return;
    if (this.#stream?.isEnded) (this.#held ??= []).push(piece);
    else this.#send(piece);
  }

  #send(piece: Buffer | string): void {
    const { sink, asked, slowReaders } = this.#options;
    if (sink.write(piece)) return;
    if (sink.waitingBytes > waitingBytesMax) asked.cancellation.cancel(readsTooSlowly());
    slowReaders.note(this, piece.length);
  }
}

function readsTooSlowly(): Fault {
  return new Fault('cancelled', 'the caller reads too slowly');
}

/**
 * Events as the interface's own endpoint frames them, whatever their provider does: data stands behind
 * `data: `, and a line feed alone ends a line. JSON texts hold no carriage return.
 */
function withPlainLines(events: Buffer): Buffer {
  const isPlain = !['\r', 'data:{', 'data:['].some((odd) => events.includes(odd));
  if (isPlain) return events;
  const lines = events.toString().split(/\r\n|\r|\n/);
  return Buffer.from(lines.map((line) => line.replace(/^data:(?! )/, 'data: ')).join('\n'));
}

/** No JSON text has a line that begins so. */
const lastWord = /(?<![^\r\n])data: ?\[DONE\]/;

/** What a stream said before its end; undefined where that was too much to be kept, or makes no sense. */
function wordsOf(stream: AnswerStream): readonly AnswerEvent[] | undefined {
  try {
    const { pieces, share } = stream.kept();
    return share < 1 ? undefined : pieces.filter(({ type }) => type !== 'end');
  } catch {
    return undefined;
  }
}

/** Whether ours has a part in it: a prompt of no tokens was not counted. */
function isGuessed({ isEstimated, inputTokens }: Usage): boolean {
  return isEstimated === true || inputTokens === 0;
}

/** Names who answered and what it cost in the chunks that count tokens. */
export function annotateUsage(text: string, about: Note): string {
  return editUsage(text, (event) => note(event, about));
}

function editUsage(text: string, edit: (event: string) => string): string {
  let edited = '';
  let done = 0;
  for (let at = findUsage(text, 0); at >= 0; at = findUsage(text, done)) {
    const [start, end] = eventAround(text, at);
    edited += text.slice(done, start) + edit(text.slice(start, end));
    done = end;
  }
  return edited + text.slice(done);
}

/** In JSON, an unescaped quote ends a string: these members can stand nowhere but where they are. */
function note(event: string, { provider, cost }: Note): string {
  const name = JSON.stringify(provider);
  return event
    .replace(/^data: ?\{/m, (start) => `${start}"provider":${name},`)
    .replace(/"usage"\s*:\s*\{/, (start) => `${start}"cost":${cost},`);
}

function hasUsage(bytes: Buffer): boolean {
  // First by a text that begins with a rare character, which is found out in one quick pass.
  if (!bytes.includes('usage":')) return false;
  return bytes.includes('"usage":{') || bytes.includes('"usage": {');
}

function findUsage(text: string, from: number): number {
  const at = text.indexOf('"usage":{', from);
  return at >= 0 ? at : text.indexOf('"usage": {', from);
}

/** Where the event begins and ends that a place is in. */
function eventAround(text: string, at: number): readonly [number, number] {
  const start = Math.max(0, ...blankLines.map((one) => behind(one, text.lastIndexOf(one, at))));
  const ends = blankLines.map((one) => behind(one, text.indexOf(one, at))).filter((end) => end > 0);
  return [start, Math.min(text.length, ...ends)];
}

const blankLines = ['\n\n', '\n\r\n', '\r\r'];

function behind(blankLine: string, at: number): number {
  return at < 0 ? 0 : at + blankLine.length;
}

/** The chunk that has nothing but the usage, whose empty choices clients stumble over. */
function isUsageAlone(text: string): boolean {
  const [event] = parseEvents(text);
  const { choices } = JSON.parse(event?.data ?? '{}') as { choices?: unknown };
  return Array.isArray(choices) && choices.length === 0;
}

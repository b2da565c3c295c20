import type { Answer, AnswerEvent } from '../conversation/answer.ts';
import type { ChatRequest } from '../conversation/request.ts';
import type { DialectName } from '../dialects/dialect.ts';
import type { Fault } from '../../kit/errors.ts';

/** How clients of one kind speak to the gateway. Pure. */
export interface Face {
  readonly name: 'openai' | 'anthropic' | 'responses';
  /** Upstreams of this dialect get and give the bytes as they are. */
  readonly dialect: DialectName | undefined;
  /** Throws `invalid` with `detail.param` for what it cannot understand. */
  read(body: Readonly<Record<string, unknown>>): ChatRequest;
  /** The answer as this face's JSON, with fields in the order that its API shows. */
  writeAnswer(answer: Answer, request: ChatRequest): Readonly<Record<string, unknown>>;
  openStream(request: ChatRequest): FaceStream;
  /**
   * The error event that ends a stream which cannot be finished, framed, behind so many events that
   * the face's stream has written.
   */
  writeFailure(fault: Fault, eventsBefore?: number): string;
}

/** Writes a streamed answer; one for each stream. */
export interface FaceStream {
  /** The framed server-sent events that say this piece; empty when it says nothing yet. */
  write(event: AnswerEvent): string;
  /** How many events it has written, where they are numbered. */
  readonly eventCount?: number | undefined;
}

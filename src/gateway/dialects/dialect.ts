import type { ServerEvent } from '../../kit/answers/sse.ts';
import type { Answer, AnswerEvent, Usage } from '../conversation/answer.ts';
import type { EmbeddingRequest, Embeddings } from '../conversation/embedding.ts';
import type { ImageRequest, Images } from '../conversation/image.ts';
import type { ChatRequest } from '../conversation/request.ts';
import type { ErrorAnswer, UpstreamFailure } from './failure.ts';

export type DialectName = 'openai' | 'anthropic' | 'gemini' | 'ollama';

/** What an upstream is to be sent; the body becomes JSON. */
export interface UpstreamRequest {
  /** Below the provider's base URL, with its slash in front, and its query. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Turns a provider's stream into pieces of an answer; one for each stream. */
export interface AnswerReader {
  /**
   * The pieces that an event holds. Throws `UpstreamError` for an error that the provider sends
   * inside the stream, and for what makes no sense.
   */
  read(event: ServerEvent): readonly AnswerEvent[];
}

/**
 * Looks at a stream that passes through unread, parsing as little as it can; one for each stream.
 * What it is given are whole events, in order, as bytes.
 */
export interface StreamWatch {
  /** Throws `UpstreamError` for an error inside the stream. */
  see(events: Buffer): void;
  /** The first piece of the answer itself came: text, reasoning, a call, or its end. */
  readonly isStarted: boolean;
  /** The answer is complete: its end came, or every choice said why it ended. */
  readonly isComplete: boolean;
  /** The provider's own last word came, `[DONE]` or `message_stop`; nothing follows. */
  readonly isEnded: boolean;
  readonly usage: Usage | undefined;
}

/** The event behind which nothing of an answer follows. */
export interface LastWord {
  /** What it holds in any case. */
  readonly text: string;
  /** The event itself, for answers that a provider leaves without it. */
  readonly event: string;
  /** Where it begins: a line that no other event has. */
  readonly line: RegExp;
}

/** How one kind of provider is spoken to. Pure: it opens no connection and keeps no state. */
export interface Dialect {
  readonly name: DialectName;
  /** How its streams are framed: server-sent events, or one JSON text a line. */
  readonly framing: 'events' | 'lines';
  /** Absent where what follows the end may still count tokens. */
  readonly lastWord?: LastWord;
  /** The headers that carry a key. */
  credential(apiKey: string): Readonly<Record<string, string>>;
  /**
   * The first thing of a request that this dialect has no words for, by its name; none: all can be
   * said. What a model upstream knows differs: without its name, the request's own is looked at.
   */
  unsupported(request: ChatRequest, model?: string): string | undefined;
  /** The request in this dialect, for the model of that name upstream. */
  writeChat(request: ChatRequest, model: string): UpstreamRequest;
  /** Where chats of a model go: for requests that pass through. */
  chatPath(model: string, isStream: boolean): string;
  /** Throws `UpstreamError` (`broken`, `truncated`) for what is no answer. */
  readAnswer(body: unknown): Answer;
  /** What an answer that passes through took; throws as `readAnswer` does. */
  readUsage(body: unknown): Usage;
  openReader(): AnswerReader;
  openWatch(): StreamWatch;
  readFailure(answer: ErrorAnswer): UpstreamFailure;
  /**
   * Whether an upstream goes on with an assistant message that ends the request, word for word, so
   * that a broken answer can be finished there.
   */
  readonly continuesAnswers: boolean;
  /** Absent where the dialect knows no embeddings. */
  readonly embeddings?: EmbeddingDialect;
  /** Absent where the dialect makes no pictures. */
  readonly images?: ImageDialect;
}

/** How something that is no chat is asked for. */
export interface ErrandDialect<Request, Made> {
  /** The first field that this dialect, or the model of that name upstream, has no words for. */
  unsupported(request: Request, model: string): string | undefined;
  write(request: Request, model: string): UpstreamRequest;
  /** Throws `UpstreamError` for what is no answer. */
  read(body: unknown, request: Request): Made;
}

export interface EmbeddingDialect extends ErrandDialect<EmbeddingRequest, Embeddings> {
  /** The most inputs that the API takes in one call; absent: as many as a caller may send. */
  readonly inputsMax?: number;
}

export type ImageDialect = ErrandDialect<ImageRequest, Images>;

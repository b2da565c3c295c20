import type { ServerResponse } from 'node:http';

/** Where a handler writes its answer, piece by piece. */
export interface AnswerSink {
  /** Whether the head is settled, so that a failure can no longer become a status. */
  readonly isBegun: boolean;
  /** Settles the head, with the headers set so far; nothing but the first call does anything. */
  begin(): void;
  /** Bytes that the reader has not taken yet. */
  readonly waitingBytes: number;
  /** Sends a piece; false asks to wait for `drained` before the next one. */
  write(piece: Buffer | string): boolean;
  /** Resolves when the reader has caught up or gone. */
  drained(): Promise<void>;
  /** Ends the connection at once; what waits for the reader is let go of. */
  drop(): void;
}

/**
 * An answer whose bytes its handler pushes as they come, for streams where each piece counts. A
 * handler that fails before `begin` is refused as any other; one that fails later has written the
 * reason itself. The answer ends when `push` settles.
 */
export class PushedAnswer {
  readonly mediaType: string;
  readonly push: (sink: AnswerSink) => Promise<void>;

  constructor(mediaType: string, push: (sink: AnswerSink) => Promise<void>) {
    this.mediaType = mediaType;
    this.push = push;
  }
}

/** The sink of a response; `begin` is given because the edge knows the headers. */
export class ResponseSink implements AnswerSink {
  readonly #response: ServerResponse;
  readonly #begin: () => void;
  #isBegun = false;

  constructor(response: ServerResponse, begin: () => void) {
    this.#response = response;
    this.#begin = begin;
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  get waitingBytes(): number {
    return this.#response.destroyed ? 0 : this.#response.writableLength;
  }

  begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#begin();
  }

  write(piece: Buffer | string): boolean {
    this.begin();
    return this.#response.destroyed || this.#response.write(piece);
  }

  drained(): Promise<void> {
    const response = this.#response;
    if (response.destroyed || !response.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.on('drain', done);
      response.on('close', done);
    });
  }

  drop(): void {
    this.#response.destroy();
  }

  /** Ends the answer if it was begun. */
  end(): void {
    if (this.#isBegun) this.#response.end();
  }
}

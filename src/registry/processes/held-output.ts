import type { Readable } from 'node:stream';

/** The output of a child from its start on: when one exits, Node.js throws away what nobody listens to. */
export class HeldOutput {
  readonly #stream: Readable;
  readonly #held: Buffer[] = [];
  #hear: ((chunk: Buffer) => void) | undefined;

  /** Reads nothing before it is told to, but what a child that has exited left behind. */
  constructor(stream: Readable) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      if (this.#hear) this.#hear(chunk);
      else this.#held.push(chunk);
    });
    stream.pause();
  }

  /** What came before comes at once, the rest as it comes. */
  hear(listener: (chunk: Buffer) => void): void {
    this.#hear = listener;
    for (const chunk of this.#held.splice(0)) listener(chunk);
    this.#stream.resume();
  }
}

export type MessageHandler = (text: string) => Promise<void> | void;

export interface InboxOptions {
  /** Stops the source: enough is waiting. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Takes what the handler threw. */
  readonly report: (error: unknown) => void;
}

const waitingLengthMax = 64 * 1024;

/**
 * Messages on their way to a handler, which gets them one after the other. The source is paused
 * while more than 64 KiB wait, so a flood costs its sender and not our memory.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #waiting: string[] = [];
  #waitingLength = 0;
  #handler: MessageHandler | undefined;
  #isHandling = false;
  #isPaused = false;
  #isClosed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  attach(handler: MessageHandler): void {
    this.#handler = handler;
    void this.#handleAll();
  }

  /** Keeps what comes for the next handler; one that runs finishes its message. */
  detach(): void {
    this.#handler = undefined;
  }

  add(text: string): void {
    if (this.#isClosed) return;
    this.#waiting.push(text);
    this.#waitingLength += text.length + 1;
    void this.#handleAll();
    this.#balance();
  }

  /** Drops what waits, and lets the source flow so that its end can be read. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#waitingLength = 0;
    this.#balance();
  }

  async #handleAll(): Promise<void> {
    if (this.#isHandling || !this.#handler) return;
    this.#isHandling = true;
    while (this.#handler) {
      const text = this.#take();
      if (text === undefined) break;
      await this.#handle(text, this.#handler);
    }
    this.#isHandling = false;
  }

  #take(): string | undefined {
    const text = this.#waiting.shift();
    if (text !== undefined) this.#waitingLength -= text.length + 1;
    this.#balance();
    return text;
  }

  async #handle(text: string, handler: MessageHandler): Promise<void> {
    try {
      await handler(text);
    } catch (error) {
      this.#options.report(error);
    }
  }

  #balance(): void {
    const isFull = this.#waitingLength > waitingLengthMax;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#options.pause();
    else this.#options.resume();
  }
}

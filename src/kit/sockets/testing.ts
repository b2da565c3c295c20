import { once } from 'node:events';
import { WebSocket, type ClientOptions, type RawData } from 'ws';

/** A real WebSocket client for tests, which keeps what comes until it is asked for. */
export class TestClient {
  readonly socket: WebSocket;
  readonly #messages: unknown[] = [];
  readonly #waiting: ((message: unknown) => void)[] = [];
  readonly #closed: Promise<{ code: number; reason: string }>;

  /** `url` may be that of the HTTP server. */
  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), options);
    this.socket.on('message', (message) => this.#receive(message));
    this.socket.on('error', () => {});
    this.#closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  async opened(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  closed(): Promise<{ code: number; reason: string }> {
    return this.#closed;
  }

  /** How the server refused the handshake. */
  async refused(): Promise<{ status: number; headers: Record<string, unknown>; body: unknown }> {
    const [, response] = await once(this.socket, 'unexpected-response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) };
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  /** The next message, in the order in which they came. */
  next(): Promise<unknown> {
    if (this.#messages.length > 0) return Promise.resolve(this.#messages.shift());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async take(count: number): Promise<unknown[]> {
    const messages: unknown[] = [];
    while (messages.length < count) messages.push(await this.next());
    return messages;
  }

  #receive(raw: RawData): void {
    // A client gives each message as one Buffer unless told otherwise.
    const message: unknown = JSON.parse((raw as Buffer).toString());
    const resolve = this.#waiting.shift();
    if (resolve) resolve(message);
    else this.#messages.push(message);
  }
}

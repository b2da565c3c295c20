import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { EdgeReply, EdgeRequest, CallContext } from './exchange.ts';
import type { PlainHead } from './plain-head.ts';

const alreadyNow = Promise.resolve();

interface Target {
  readonly url: string;
  /** Of the route. */
  readonly path: string;
}

/** A request that nothing stands before; its query and its body come to be known as they are read. */
export class DirectRequest implements EdgeRequest {
  readonly raw: IncomingMessage;
  readonly url: string;
  readonly routeOptions: { readonly url: string };
  readonly params = {};
  readonly head: PlainHead;
  query: unknown = undefined;
  body: unknown = undefined;
  text: string | undefined = undefined;
  context: CallContext | undefined = undefined;

  constructor(raw: IncomingMessage, head: PlainHead, { url, path }: Target) {
    this.raw = raw;
    this.head = head;
    this.url = url;
    this.routeOptions = { url: path };
  }

  get method(): string {
    return this.raw.method ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }

  get ip(): string {
    return this.raw.socket.remoteAddress ?? '';
  }

  /** Reads the body as UTF-8; one whose sender leaves is never there. `onWait` is called when some has yet to come. */
  readText(take: (text: string) => void, onWait: () => void): void {
    // What came together with its head lies there by then, and spares the listening. The cheapest way to wait.
    void alreadyNow.then(() => this.#takeText(take, onWait));
  }

  #takeText(take: (text: string) => void, onWait: () => void): void {
    const { raw } = this;
    const isThere = raw.readableLength === this.head.bodyBytes;
    const body = isThere ? (raw.read() as Buffer | null) : null;
    if (body) return take(body.toString());
    onWait();
    this.#gatherText(take);
  }

  #gatherText(take: (text: string) => void): void {
    const pieces: Buffer[] = [];
    this.raw.on('data', (piece: Buffer) => pieces.push(piece));
    this.raw.on('end', () => take(Buffer.concat(pieces).toString()));
  }
}

/** The answer to it, written with its head in one piece. */
export class DirectReply implements EdgeReply {
  readonly request: DirectRequest;
  readonly raw: ServerResponse;
  status = 200;
  /** Names and values in turn, as node:http takes them fastest. */
  readonly #head: string[] = [];
  #onOver: (() => void) | undefined;

  constructor(request: DirectRequest, raw: ServerResponse) {
    this.request = request;
    this.raw = raw;
  }

  header(name: string, value: string | number): void {
    const at = this.#find(name);
    if (at < 0) this.#head.push(name, String(value));
    else this.#head[at + 1] = String(value);
  }

  removeHeader(name: string): void {
    const at = this.#find(name);
    if (at >= 0) this.#head.splice(at, 2);
  }

  code(status: number): void {
    this.status = status;
  }

  send(body: string | Buffer, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    this.header('content-length', Buffer.byteLength(body, encoding));
    const { raw } = this;
    const { socket } = raw;
    raw.writeHead(this.status, this.#head);
    // In one piece: `end` with a body would write it together with an empty one, which costs more; and a
    // socket that is corked already is not corked until a later turn.
    socket?.cork();
    raw.write(body, encoding);
    socket?.uncork();
    raw.end();
    this.#finish();
  }

  whenOver(listener: () => void): void {
    this.#onOver = listener;
  }

  /** Writes the head of an answer that comes piece by piece. */
  begin(head: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(head)) this.header(name, value);
    this.raw.writeHead(200, this.#head);
    this.#finish();
  }

  /** From now on the end of the connection is the end of the answer too. */
  awaitClose(): void {
    const onOver = this.#onOver;
    this.#onOver = undefined;
    if (onOver) this.raw.on('close', onOver);
  }

  /** Most answers are with the system by now, which spares listening for the end of the connection. */
  #finish(): void {
    const { raw } = this;
    if (raw.writableFinished || raw.destroyed) this.#onOver?.();
    else this.awaitClose();
  }

  #find(name: string): number {
    for (let at = 0; at < this.#head.length; at += 2) if (this.#head[at] === name) return at;
    return -1;
  }
}

import { Pool } from 'undici';

/** A request as it is sent over and over; only the token changes. */
export interface Shot {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** Of the body; JSON unless told. */
  readonly contentType?: string;
  /** In place of a bearer token; an empty token sends none. */
  readonly authorization?: string;
  /** Further ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the answer; 200 unless told. */
  readonly status?: number;
}

/** Keep-alive connections, each with one request under way at a time. */
export const connections = 64;

/** Shorter than any server keeps a connection open, so that none ends one while a round begins. */
const idleMsMax = 2_000;

/** Sends requests to one server, with the tokens in turn. The owner disposes of it. */
export class Load implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #tokens: readonly string[];
  readonly #size: number;

  constructor(url: string, tokens: readonly string[], size = connections) {
    this.#pool = new Pool(url, { connections: size, keepAliveMaxTimeout: idleMsMax });
    this.#tokens = tokens;
    this.#size = size;
  }

  /** Sends a request so many times and waits for all answers; rejects unless every one is as it should be. */
  async fire(shot: Shot, times: number): Promise<void> {
    await this.repeat((turn) => this.send(shot, turn), times);
  }

  /**
   * Takes a step so many times, one at a time on each connection. A step learns its turn and its
   * connection, so that it can go on from what that connection was answered last. `isCalm` where a
   * step takes milliseconds: then this process sleeps between answers and leaves its core to the server.
   */
  async repeat(
    step: (turn: number, connection: number) => Promise<unknown>,
    times: number,
    { isCalm = false }: { readonly isCalm?: boolean } = {},
  ): Promise<void> {
    let taken = 0;
    const work = async (_: unknown, connection: number) => {
      while (taken < times) {
        taken += 1;
        await step(taken, connection);
      }
    };
    const workAll = () => Promise.all(Array.from({ length: this.#size }, work));
    await (isCalm ? workAll() : awake(workAll));
  }

  /** Sends one request, with the token whose turn it is, and answers the body. */
  async send(shot: Shot, turn = 0): Promise<string> {
    const { method, path, body, contentType = 'application/json', status = 200 } = shot;
    const token = this.#tokens[turn % this.#tokens.length];
    const authorization = shot.authorization ?? (token && `Bearer ${token}`);
    const answer = await this.#pool.request({
      method,
      path,
      headers: {
        ...(authorization ? { authorization } : {}),
        ...(body ? { 'content-type': contentType } : {}),
        ...shot.headers,
      },
      ...(body ? { body } : {}),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== status) {
      throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
    }
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.close();
  }
}

/**
 * Keeps this process's event loop turning while work goes on. A load that sleeps has to be woken by the
 * server's writes, and the system books that on the server, the more the slower the server is.
 */
export async function awake(work: () => Promise<unknown>): Promise<void> {
  let isWorking = true;
  const turn = () => {
    if (isWorking) setImmediate(turn);
  };
  turn();
  try {
    await work();
  } finally {
    isWorking = false;
  }
}

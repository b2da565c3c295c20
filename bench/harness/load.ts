import { Pool } from 'undici';

/** A request as it is sent over and over; only the token changes. */
export interface Shot {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

/** Keep-alive connections, each with one request under way at a time. */
export const connections = 32;

/** Sends requests to one server, with the tokens in turn. The owner disposes of it. */
export class Load implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #tokens: readonly string[];

  constructor(url: string, tokens: readonly string[]) {
    this.#pool = new Pool(url, { connections });
    this.#tokens = tokens;
  }

  /** Sends a request so many times and waits for all answers; rejects unless every one is a 200. */
  async fire(shot: Shot, times: number): Promise<void> {
    let fired = 0;
    const work = async () => {
      while (fired < times) {
        fired += 1;
        await this.send(shot, fired);
      }
    };
    await awake(() => Promise.all(Array.from({ length: connections }, work)));
  }

  /** Sends one request, with the token whose turn it is, and answers the body. */
  async send({ method, path, body }: Shot, turn = 0): Promise<string> {
    const authorization = `Bearer ${this.#tokens[turn % this.#tokens.length]}`;
    const answer = await this.#pool.request({
      method,
      path,
      headers: body ? { authorization, 'content-type': 'application/json' } : { authorization },
      ...(body ? { body } : {}),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) {
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
async function awake(work: () => Promise<unknown>): Promise<void> {
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

import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { HostHello } from './host.ts';

/** Exporters that send at the same time, each one export after the other. */
export const senders = 16;

export interface SendOptions {
  readonly isGzip: boolean;
  /** Keeps to so many spans a second; as many as are taken where absent. */
  readonly spansPerSecond?: number;
}

const neighbourPaths = {
  memory: '/.well-known/oauth-authorization-server',
  database: '/api/v1/auth/users?limit=1',
} as const;

/** What is to be sent. */
export interface Body {
  readonly bytes: Buffer;
  readonly spanCount: number;
}

/** Reads and writes the tracer as its clients do. The owner disposes of it. */
export class TracerClient implements AsyncDisposable {
  /** How often the tracer asked to send something again later. */
  postponed = 0;
  readonly #pool: Pool;
  readonly #otherPool: Pool;
  readonly #authorization: string;

  constructor({ url, authUrl, token }: HostHello) {
    this.#pool = new Pool(url, { connections: senders + 4 });
    this.#otherPool = new Pool(authUrl, { connections: 2 });
    this.#authorization = `Bearer ${token}`;
  }

  /** Sends all bodies; answers the seconds until the last one was acknowledged. */
  async sendAll(bodies: readonly Body[], options: SendOptions): Promise<number> {
    const startedAt = performance.now();
    const { spansPerSecond = Infinity } = options;
    let next = 0;
    let sentSpans = 0;
    const work = async () => {
      for (let body = bodies[next]; body; body = bodies[next]) {
        next += 1;
        const dueMs = (sentSpans / spansPerSecond) * 1_000;
        sentSpans += body.spanCount;
        const earlyMs = startedAt + dueMs - performance.now();
        if (earlyMs > 1) await sleep(earlyMs);
        await this.#send(body, options);
      }
    };
    await Promise.all(Array.from({ length: senders }, work));
    return (performance.now() - startedAt) / 1_000;
  }

  /** Reads a path of the tracer; rejects unless the answer is a 200. */
  async get<T>(path: string): Promise<T> {
    const headers = { authorization: this.#authorization };
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path, headers });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** Asks the other service of the process for something that it knows, or must look up. */
  async askNeighbour(where: 'memory' | 'database'): Promise<void> {
    const path = neighbourPaths[where];
    const headers = { authorization: this.#authorization };
    const { statusCode, body } = await this.#otherPool.request({ method: 'GET', path, headers });
    await body.dump();
    if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}`);
  }

  /** Waits until no trace is open any more; answers what is stored then. */
  async untilComplete(): Promise<Stored> {
    const until = performance.now() + 120_000;
    while (performance.now() < until) {
      const { intake, storage } = await this.get<Health>('/api/v1/health');
      if (intake.openTraces === 0 && intake.queuedExports === 0) return storage;
      await sleep(200);
    }
    throw new Error('traces were still open after two minutes');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#pool.close(), this.#otherPool.close()]);
  }

  async #send({ bytes }: Body, { isGzip }: SendOptions): Promise<void> {
    const headers = {
      authorization: this.#authorization,
      'content-type': 'application/x-protobuf',
      ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
    };
    for (;;) {
      const request = { method: 'POST', path: '/v1/traces', headers, body: bytes } as const;
      const answer = await this.#pool.request(request);
      const said = Buffer.from(await answer.body.arrayBuffer());
      if (answer.statusCode === 200 && said.length === 0) return;
      if (answer.statusCode !== 429) {
        throw new Error(`spans were not taken: ${answer.statusCode} ${said.toString('latin1')}`);
      }
      this.postponed += 1;
      await sleep(Number(answer.headers['retry-after']) * 1_000);
    }
  }
}

/** What the tracer says that it keeps. */
export interface Stored {
  readonly tracesStored: number;
  readonly spansStored: number;
  readonly diskUsage: string;
}

interface Health {
  readonly storage: Stored;
  readonly intake: { readonly openTraces: number; readonly queuedExports: number };
}

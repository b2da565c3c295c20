import type { Cancellation } from '../../kit/cancellation.ts';
import { UpstreamError } from '../dialects/upstream-error.ts';
import type { AnswerHeaders, Ongoing, Outgoing, UpstreamListener, Upstreams } from './upstreams.ts';

/** An answer that came in one piece. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly bytes: Buffer;
}

export interface WholeAnswerLimits {
  readonly cancellation: Cancellation;
  readonly timeoutMs: number;
  /** From when that is reckoned, milliseconds of `performance.now()`; from the call when absent. */
  readonly startedAt?: number;
  /** Called when the request goes out: from then on it may cost something. */
  readonly onSent: () => void;
}

/** Ten pictures of the largest kind, as base64, have about 40 MiB. */
const answerBytesMax = 64 * 1024 * 1024;

/** Sends a request and waits for all of its answer; rejects with UpstreamError when there is none. */
export function fetchWhole(
  upstreams: Upstreams,
  outgoing: Outgoing,
  limits: WholeAnswerLimits,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(outgoing.target.provider.name, limits, { resolve, reject });
    collector.start(upstreams.send(outgoing, collector));
  });
}

interface Settle {
  resolve(answer: WholeAnswer): void;
  reject(error: UpstreamError): void;
}

class Collector implements UpstreamListener {
  readonly #provider: string;
  readonly #limits: WholeAnswerLimits;
  readonly #settle: Settle;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: AnswerHeaders = {};
  #ongoing: Ongoing | undefined;

  constructor(provider: string, limits: WholeAnswerLimits, settle: Settle) {
    this.#provider = provider;
    this.#limits = limits;
    this.#settle = settle;
    const { timeoutMs, startedAt } = limits;
    const goneMs = startedAt === undefined ? 0 : performance.now() - startedAt;
    this.#timer = setTimeout(this.#late, Math.max(0, timeoutMs - goneMs));
  }

  start(ongoing: Ongoing): void {
    this.#ongoing = ongoing;
    this.#limits.cancellation.onCancel(this.#leave);
  }

  sent(): void {
    this.#limits.onSent();
  }

  head(status: number, headers: AnswerHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > answerBytesMax) {
      const message = `the answer of ${this.#provider} has more than 64 MiB`;
      this.#ongoing?.abort(UpstreamError.of('oversized', message));
      return;
    }
    this.#chunks.push(chunk);
  }

  ended(): void {
    this.#stop();
    const [first] = this.#chunks;
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#settle.resolve({ status: this.#status, headers: this.#headers, bytes });
  }

  failed(error: UpstreamError): void {
    this.#stop();
    this.#settle.reject(error);
  }

  readonly #late = (): void => {
    const message = `${this.#provider} did not answer within ${this.#limits.timeoutMs} ms`;
    this.#ongoing?.abort(UpstreamError.of('late', message));
  };

  readonly #leave = (): void => {
    this.#ongoing?.abort(UpstreamError.of('late', 'the caller gave up'));
  };

  #stop(): void {
    clearTimeout(this.#timer);
    this.#limits.cancellation.offCancel(this.#leave);
  }
}

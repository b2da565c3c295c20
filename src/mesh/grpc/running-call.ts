import { Fault } from '../../kit/errors.ts';
import type { GrpcCall } from '../../kit/grpc/incoming-call.ts';
import type { PeerIdentity } from '../certificates/spiffe.ts';
import { checkIdempotencyKey } from '../tasks/task-answers.ts';
import type { GrpcCallerIdentity, Message } from './mesh-operations.ts';

/** One call and whoever makes it; what an operation does not look at costs nothing. */
export class RunningCall implements GrpcCallerIdentity {
  readonly agentId: string;
  readonly ownerId: string;
  readonly #request: Message;
  readonly #incoming: GrpcCall<unknown>;

  constructor(
    { agentId, ownerId }: Pick<PeerIdentity, 'agentId' | 'ownerId'>,
    request: Message,
    incoming: GrpcCall<unknown>,
  ) {
    this.agentId = agentId;
    this.ownerId = ownerId;
    this.#request = request;
    this.#incoming = incoming;
  }

  get traceparent(): string | undefined {
    const [value] = this.#incoming.metadata('traceparent');
    return typeof value === 'string' ? value : undefined;
  }

  get idempotencyKey(): string | undefined {
    const { idempotencyKey: key } = this.#request;
    return typeof key === 'string' ? checkIdempotencyKey(key) : undefined;
  }

  get signal(): AbortSignal {
    return this.#incoming.cancellation.signal;
  }

  /**
   * What the work answers, at once or later; later, it rejects with `deadline` when the work takes too
   * long and with `cancelled` when nobody waits for it.
   */
  run(work: () => Promise<object> | object, limitMs: number): Promise<object> | object {
    const answer = work();
    return answer instanceof Promise ? this.#within(answer, limitMs) : answer;
  }

  async #within(answer: Promise<object>, limitMs: number): Promise<object> {
    const { cancellation } = this.#incoming;
    const timer = setTimeout(
      () => cancellation.cancel(new Fault('deadline', 'the call took too long')),
      limitMs,
    );
    try {
      return await new Promise<object>((resolve, reject) => {
        cancellation.onCancel(() => reject(cancellation.reason));
        answer.then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

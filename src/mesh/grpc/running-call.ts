import type { ServerUnaryCall } from '@grpc/grpc-js';
import { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { PeerIdentity } from '../certificates/spiffe.ts';
import { checkIdempotencyKey } from '../tasks/task-answers.ts';
import type { GrpcCallerIdentity, Message } from './mesh-operations.ts';

/** One call and whoever makes it; what an operation does not look at costs nothing. */
export class RunningCall implements GrpcCallerIdentity {
  readonly agentId: string;
  readonly ownerId: string;
  readonly #incoming: ServerUnaryCall<Message, object>;
  readonly #cancellation = new Cancellation();

  constructor(
    { agentId, ownerId }: Pick<PeerIdentity, 'agentId' | 'ownerId'>,
    incoming: ServerUnaryCall<Message, object>,
  ) {
    this.agentId = agentId;
    this.ownerId = ownerId;
    this.#incoming = incoming;
  }

  get traceparent(): string | undefined {
    const [value] = this.#incoming.metadata.get('traceparent');
    return typeof value === 'string' ? value : undefined;
  }

  get idempotencyKey(): string | undefined {
    const { idempotencyKey: key } = this.#incoming.request;
    return typeof key === 'string' ? checkIdempotencyKey(key) : undefined;
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /** Rejects with `deadline` when the work takes too long, with `cancelled` when nobody waits for it. */
  async run(work: () => Promise<object> | object, limitMs: number): Promise<object> {
    const answer = work();
    if (!(answer instanceof Promise)) return answer;
    const cancellation = this.#cancellation;
    // Also emitted when the answer has gone out, which must not cost the making of an error.
    const onCancelled = () => cancellation.cancel(new Fault('cancelled', 'the caller gave up'));
    this.#incoming.once('cancelled', onCancelled);
    const timer = setTimeout(
      () => cancellation.cancel(new Fault('deadline', 'the call took too long')),
      limitMs,
    );
    try {
      if (this.#incoming.cancelled) onCancelled();
      return await new Promise<object>((resolve, reject) => {
        cancellation.onCancel(() => reject(cancellation.reason));
        answer.then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
      this.#incoming.off('cancelled', onCancelled);
    }
  }
}

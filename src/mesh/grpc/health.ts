import { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { GrpcServer } from '../../kit/grpc/grpc-server.ts';
import type { GrpcCall } from '../../kit/grpc/incoming-call.ts';
import { methodOf, meshPackage, serviceNames, type MeshDefinition } from './definition.ts';

interface HealthRequest {
  readonly service?: string;
}

interface HealthAnswer {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

const known = new Set(['', ...serviceNames.map((name) => `${meshPackage}.${name}`)]);

/** `grpc.health.v1.Health`, for the server as a whole and for each of its services. */
export class GrpcHealth {
  readonly #stopping = new Cancellation();

  get isServing(): boolean {
    return !this.#stopping.isCancelled;
  }

  addTo<Peer>(server: GrpcServer<Peer>, { health }: Pick<MeshDefinition, 'health'>): void {
    server.addUnary(methodOf(health, 'Check'), (request) => {
      const answer = this.#answer(request);
      if (answer.status !== 'SERVICE_UNKNOWN') return answer;
      throw new Fault('not_found', 'there is no such service');
    });
    server.addServerStream(methodOf(health, 'Watch'), (request, call) =>
      this.#watch(request, call),
    );
  }

  /** Says to everybody that the server is about to stop, and ends the watches. */
  stop(): void {
    this.#stopping.cancel(new Fault('unavailable', 'the server stops'));
  }

  async *#watch<Peer>(request: HealthRequest, { cancellation }: GrpcCall<Peer>) {
    yield this.#answer(request);
    await new Promise<void>((resolve) => {
      this.#stopping.onCancel(resolve);
      cancellation.onCancel(() => {
        this.#stopping.offCancel(resolve);
        resolve();
      });
    });
    yield this.#answer(request);
  }

  #answer({ service = '' }: HealthRequest): HealthAnswer {
    if (!known.has(service)) return { status: 'SERVICE_UNKNOWN' };
    return { status: this.isServing ? 'SERVING' : 'NOT_SERVING' };
  }
}

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

/** How often the health is looked at that somebody watches. */
const watchMs = 2_000;

/** `grpc.health.v1.Health`, for the server as a whole and for each of its services. */
export class GrpcHealth {
  readonly #stopping = new Cancellation();
  readonly #isWorking: () => Promise<boolean>;

  /** `isWorking`: whether what calls need answers. */
  constructor(isWorking: () => Promise<boolean>) {
    this.#isWorking = isWorking;
  }

  /** Whether it is not about to stop. */
  get isServing(): boolean {
    return !this.#stopping.isCancelled;
  }

  addTo<Peer>(server: GrpcServer<Peer>, { health }: Pick<MeshDefinition, 'health'>): void {
    server.addUnary(methodOf(health, 'Check'), async (request) => {
      const answer = await this.#answer(request);
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
    let told = await this.#answer(request);
    yield told;
    while (this.isServing && !cancellation.isCancelled) {
      await this.#pause(cancellation);
      const answer = await this.#answer(request);
      if (answer.status === told.status) continue;
      told = answer;
      yield told;
    }
  }

  /** Until it is time to look again, or nobody waits for that. */
  async #pause(cancellation: Cancellation): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#stopping.offCancel(end);
        cancellation.offCancel(end);
        resolve();
      };
      const timer = setTimeout(end, watchMs);
      this.#stopping.onCancel(end);
      cancellation.onCancel(end);
    });
  }

  async #answer({ service = '' }: HealthRequest): Promise<HealthAnswer> {
    if (!known.has(service)) return { status: 'SERVICE_UNKNOWN' };
    const isServing = this.isServing && (await this.#isWorking());
    return { status: isServing ? 'SERVING' : 'NOT_SERVING' };
  }
}

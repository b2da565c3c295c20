import { status, type Server, type ServerWritableStream } from '@grpc/grpc-js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { meshPackage, serviceNames, type MeshDefinition } from './definition.ts';

interface HealthRequest {
  readonly service?: string;
}

interface HealthAnswer {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

const known = new Set(['', ...serviceNames.map((name) => `${meshPackage}.${name}`)]);

/** `grpc.health.v1.Health`, for the server as a whole and for each of its services. */
export class GrpcHealth {
  readonly #watchers = new Set<ServerWritableStream<HealthRequest, HealthAnswer>>();
  #isServing = true;

  get isServing(): boolean {
    return this.#isServing;
  }

  addTo(server: Server, { health }: Pick<MeshDefinition, 'health'>): void {
    server.addService(health, {
      Check: (
        { request }: ServerUnaryCall<HealthRequest, HealthAnswer>,
        respond: sendUnaryData<HealthAnswer>,
      ) => {
        const answer = this.#answer(request);
        if (answer.status !== 'SERVICE_UNKNOWN') return respond(null, answer);
        return respond({ code: status.NOT_FOUND, details: 'there is no such service' });
      },
      Watch: (call: ServerWritableStream<HealthRequest, HealthAnswer>) => {
        this.#watchers.add(call);
        call.on('cancelled', () => this.#watchers.delete(call));
        call.write(this.#answer(call.request));
      },
    });
  }

  /** Says to everybody that the server is about to stop, and ends the watches. */
  stop(): void {
    this.#isServing = false;
    for (const watcher of this.#watchers) {
      watcher.write(this.#answer(watcher.request));
      watcher.end();
    }
    this.#watchers.clear();
  }

  #answer({ service = '' }: HealthRequest): HealthAnswer {
    if (!known.has(service)) return { status: 'SERVICE_UNKNOWN' };
    return { status: this.#isServing ? 'SERVING' : 'NOT_SERVING' };
  }
}

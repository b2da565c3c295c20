import type { TSchema } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import { GrpcServer } from '../../kit/grpc/grpc-server.ts';
import type { GrpcCall } from '../../kit/grpc/incoming-call.ts';
import type { GrpcStatus } from '../../kit/grpc/status.ts';
import { compileValidator } from '../../kit/http/validation.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { isStorable } from '../../kit/storable-json.ts';
import type { RenewedIdentity } from '../certificates/renewed-identity.ts';
import type { PeerIdentity } from '../certificates/spiffe.ts';
import { admit, requireOwnAgent, type AdmissionOptions } from './admission.ts';
import { grpcCalls, type MeshCall } from './calls.ts';
import {
  loadDefinition,
  methodOf,
  serviceNames,
  type MeshDefinition,
  type ServiceName,
} from './definition.ts';
import { GrpcHealth } from './health.ts';
import type {
  GrpcCallerIdentity,
  Message,
  MeshOperations,
  OperationName,
} from './mesh-operations.ts';
import { fromRequest, toResponse } from './messages.ts';
import { addReflection } from './reflection.ts';
import { RunningCall } from './running-call.ts';
import { GrpcStatuses } from './status.ts';
import { TlsListener } from './tls-listener.ts';

export interface MeshServerOptions extends AdmissionOptions {
  readonly address: string;
  /** 0 is any free one. */
  readonly port: number;
  /** The mesh's own certificate, and whom it trusts. */
  readonly identity: RenewedIdentity;
  readonly operations: MeshOperations;
  readonly log: Log;
  /** After which a connection is asked to end, so that none outlives its certificate; 10 minutes. */
  readonly connectionMsMax?: number;
  /** The most that any call but ExecuteTask may take; 30 s. */
  readonly callMsMax?: number;
  /** Whether what calls need answers, for who asks for the health. */
  readonly isWorking?: () => Promise<boolean>;
  /** Told of every call that a method has ended; the code is that of the Fault, or `ok`. */
  readonly onCall?: (operation: OperationName, code: string) => void;
}

type Check = (request: Message) => Message;
type Peer = PeerIdentity | undefined;

const messageBytesMax = 1024 * 1024;
const answerBytesMax = 4 * messageBytesMax;
const stopMs = 1_000;
const taskMsMax = 3_600_000;
/** So that a task's own deadline, which has better words, passes first. */
const taskGraceMs = 5_000;
/** A connection that is asked to end takes no new call, and ends when the last one has. */
const connectionGraceMs = taskMsMax + taskGraceMs;

/** The gRPC face of the mesh: three services, health and reflection, with mutual TLS only. */
export class MeshGrpcServer implements AsyncDisposable {
  readonly #options: MeshServerOptions;
  readonly #statuses: GrpcStatuses;
  readonly #server: GrpcServer<Peer>;
  readonly #listener: TlsListener;
  readonly #health: GrpcHealth;
  #port = 0;

  private constructor(options: MeshServerOptions, definition: MeshDefinition) {
    this.#options = options;
    this.#health = new GrpcHealth(options.isWorking ?? (() => Promise.resolve(true)));
    this.#statuses = new GrpcStatuses(definition);
    this.#server = new GrpcServer({
      requestBytesMax: messageBytesMax,
      answerBytesMax,
      statusOf: (error, { path }) => this.#statusOf(error, path),
      connectionMsMax: options.connectionMsMax ?? 600_000,
      connectionGraceMs,
    });
    for (const name of serviceNames) this.#addService(name, definition);
    this.#health.addTo(this.#server, definition);
    addReflection(this.#server, definition);
    const { address, port, identity } = options;
    this.#listener = new TlsListener({
      address,
      port,
      identity,
      onConnection: (socket, peer) => this.#server.accept(socket, peer),
    });
  }

  /** Listens; a Fault `conflict` says that the port is taken. */
  static async open(options: MeshServerOptions): Promise<MeshGrpcServer> {
    const server = new MeshGrpcServer(options, await loadDefinition());
    server.#port = await server.#listener.listen();
    return server;
  }

  get port(): number {
    return this.#port;
  }

  get isServing(): boolean {
    return this.#health.isServing;
  }

  get connectionCount(): number {
    return this.#listener.connectionCount;
  }

  /** Takes no further call, and says so to who asks for the health; those that run go on. */
  stop(): void {
    this.#health.stop();
    this.#listener.stop();
    this.#server.drain();
  }

  /** Lets running calls end, for a second at most; the rest end as `unavailable`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#server.close(stopMs);
    this.#listener.destroy();
  }

  #addService(name: ServiceName, { services }: MeshDefinition): void {
    for (const [method, call] of Object.entries(grpcCalls[name])) {
      const check = checkOf(call.request);
      this.#server.addUnary(methodOf(services[name], method), (request, incoming) =>
        this.#answer({ call, check, request: request as Message, incoming }),
      );
    }
  }

  /** What can be answered at once is answered without a promise: it is most of what is asked. */
  #answer(work: Work): Promise<object> | object {
    try {
      const answer = this.#perform(work);
      if (!(answer instanceof Promise)) return this.#succeed(work, answer);
      return answer.then(
        (value: object) => this.#succeed(work, value),
        (error: unknown) => this.#fail(work, error),
      );
    } catch (error) {
      return this.#fail(work, error);
    }
  }

  #perform({ call, check, request: message, incoming }: Work): Promise<object> | object {
    const { operation, isClaim } = call;
    const { operations, callMsMax = 30_000 } = this.#options;
    const peer = admit(incoming.peer, this.#options);
    if (isClaim) requireOwnAgent(message, peer);
    const request = check(fromRequest(operation, message));
    const limitMs = operation === 'execute' ? taskLimitMs(request) : callMsMax;
    // Each operation takes a narrower request, which the schema has made sure of.
    const perform = operations[operation] as (
      request: Message,
      caller: GrpcCallerIdentity,
    ) => Promise<object> | object;
    const running = new RunningCall(peer, message, incoming);
    return running.run(() => perform(request, running), limitMs);
  }

  #succeed({ call }: Work, answer: object): object {
    this.#options.onCall?.(call.operation, 'ok');
    return toResponse(call.operation, answer);
  }

  #fail({ call }: Work, error: unknown): never {
    this.#options.onCall?.(call.operation, Fault.from(error).code);
    throw error;
  }

  #statusOf(error: unknown, path: string): GrpcStatus {
    const fault = Fault.from(error);
    const requestId = newId('req');
    if (fault.code === 'internal') {
      this.#options.log.error({ err: fault, requestId }, `${path} over gRPC failed`);
    }
    return this.#statuses.of(fault, requestId);
  }
}

interface Work {
  readonly call: MeshCall;
  readonly check: Check;
  readonly request: Message;
  readonly incoming: GrpcCall<Peer>;
}

function taskLimitMs({ task }: Message): number {
  // The schema has seen to its being an object with a number or none.
  const { timeout = taskMsMax } = task as { readonly timeout?: number };
  return timeout + taskGraceMs;
}

function checkOf(schema: TSchema): Check {
  const validate = compileValidator({ schema, method: 'POST', url: '', httpPart: 'body' });
  return (request) => {
    const { value, error } = validate(request) as { value?: Message; error?: Error };
    if (!value) throw error ?? new Fault('invalid', 'the request is not valid');
    // REST refuses it as it parses.
    if (isStorable(JSON.stringify(value))) return value;
    throw new Fault('invalid', 'a text holds the character U+0000', { reason: 'validation_error' });
  };
}

import {
  Server,
  ServerCredentials,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import type { TSchema } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import { compileValidator } from '../../kit/http/validation.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { isStorable } from '../../kit/storable-json.ts';
import type { RenewedIdentity } from '../certificates/renewed-identity.ts';
import { admit, requireOwnAgent, type AdmissionOptions } from './admission.ts';
import { grpcCalls, type GrpcCall } from './calls.ts';
import { loadDefinition, serviceNames, type MeshDefinition } from './definition.ts';
import { GrpcHealth } from './health.ts';
import type {
  GrpcCallerIdentity,
  Message,
  MeshOperations,
  OperationName,
} from './mesh-operations.ts';
import { fromRequest, toResponse } from './messages.ts';
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
  /** Told of every call that has ended; the code is that of the Fault, or `ok`. */
  readonly onCall?: (call: EndedCall) => void;
}

export interface EndedCall {
  readonly operation: OperationName;
  readonly code: string;
  readonly durationMs: number;
}

type Check = (request: Message) => Message;

const messageBytesMax = 1024 * 1024;
const answerBytesMax = 4 * messageBytesMax;
const streamsMax = 200;
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
  readonly #server: Server;
  readonly #listener: TlsListener;
  readonly #health = new GrpcHealth();
  #port = 0;

  private constructor(options: MeshServerOptions, definition: MeshDefinition) {
    this.#options = options;
    this.#statuses = new GrpcStatuses(definition);
    this.#server = new Server({
      'grpc.max_receive_message_length': messageBytesMax,
      'grpc.max_send_message_length': answerBytesMax,
      'grpc.max_concurrent_streams': streamsMax,
      'grpc.max_connection_age_ms': options.connectionMsMax ?? 600_000,
      'grpc.max_connection_age_grace_ms': connectionGraceMs,
      'grpc.keepalive_time_ms': 60_000,
      'grpc.enable_channelz': 0,
    });
    for (const name of serviceNames) {
      const handlers = Object.entries(grpcCalls[name]).map(([method, call]) => [
        method,
        this.#handler(call),
      ]);
      this.#server.addService(definition.services[name], Object.fromEntries(handlers));
    }
    this.#health.addTo(this.#server, definition);
    new ReflectionService(definition.public).addToServer(this.#server);
    // The listener has done what is to be done about TLS when a connection gets here.
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    const { address, port, identity } = options;
    this.#listener = new TlsListener({
      address,
      port,
      identity,
      onConnection: (socket) => injector.injectConnection(socket),
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

  /** Lets running calls end, for a second at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#health.stop();
    this.#listener.stop();
    const timer = setTimeout(() => this.#listener.destroy(), stopMs);
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    clearTimeout(timer);
    this.#listener.destroy();
  }

  #handler(call: GrpcCall): handleUnaryCall<Message, object> {
    const check = checkOf(call.request);
    return (incoming, respond) => void this.#answer({ call, check, incoming }, respond);
  }

  async #answer(work: Work, respond: sendUnaryData<object>): Promise<void> {
    const { operation } = work.call;
    const startMs = performance.now();
    let code = 'ok';
    try {
      respond(null, toResponse(operation, await this.#perform(work)));
    } catch (error) {
      const fault = Fault.from(error);
      ({ code } = fault);
      const requestId = newId('req');
      if (fault.code === 'internal') {
        this.#options.log.error({ err: fault, requestId }, `${operation} over gRPC failed`);
      }
      respond(this.#statuses.of(fault, requestId));
    }
    this.#options.onCall?.({ operation, code, durationMs: performance.now() - startMs });
  }

  async #perform({ call, check, incoming }: Work): Promise<object> {
    const { operation, isClaim } = call;
    const { operations, callMsMax = 30_000 } = this.#options;
    const peer = admit(this.#listener.peerOf(incoming.getPeer()), this.#options);
    if (isClaim) requireOwnAgent(incoming.request, peer);
    const request = check(fromRequest(operation, incoming.request));
    const limitMs = operation === 'execute' ? taskLimitMs(request) : callMsMax;
    // Each operation takes a narrower request, which the schema has made sure of.
    const perform = operations[operation] as (
      message: Message,
      caller: GrpcCallerIdentity,
    ) => Promise<object> | object;
    const running = new RunningCall(peer, incoming);
    return running.run(() => perform(request, running), limitMs);
  }
}

interface Work {
  readonly call: GrpcCall;
  readonly check: Check;
  readonly incoming: ServerUnaryCall<Message, object>;
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

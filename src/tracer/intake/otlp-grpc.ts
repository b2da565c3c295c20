import {
  Metadata,
  Server,
  ServerCredentials,
  status as grpcStatus,
  type handleUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { codes, Fault } from '../../kit/errors.ts';
import type { Authenticator } from '../../kit/identity/authenticator.ts';
import type { Log } from '../../kit/log.ts';
import { peerPermission, requirePermission } from '../../kit/permissions.ts';
import { exportAnswer, failureAnswer } from '../otlp/answers.ts';
import { exportBytesMax } from '../schemas/otlp.ts';
import type { Intake } from './intake.ts';

export interface GrpcOptions {
  readonly address: string;
  /** 0 is any free one. */
  readonly port: number;
  readonly authenticator: Pick<Authenticator, 'identify'>;
  readonly intake: Intake;
  readonly log: Log;
}

const keepBytes = (bytes: Buffer): Buffer => bytes;

/** The messages stay bytes: intake reads them in its thread. */
const traceService: ServiceDefinition = {
  export: {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: keepBytes,
    requestDeserialize: keepBytes,
    responseSerialize: keepBytes,
    responseDeserialize: keepBytes,
  },
};

/** The server of OTLP/gRPC: without TLS, with the token in the metadata `authorization`. */
export class OtlpGrpcServer implements AsyncDisposable {
  readonly #options: GrpcOptions;
  readonly #server = new Server({
    'grpc.max_receive_message_length': exportBytesMax,
    'grpc.max_concurrent_streams': 200,
  });

  constructor(options: GrpcOptions) {
    this.#options = options;
    const receive: handleUnaryCall<Buffer, Buffer> = (call, respond) =>
      void this.#receive(call, respond);
    this.#server.addService(traceService, { export: receive });
  }

  /** Listens; answers the port. A Fault `conflict` says that it is taken. */
  listen(): Promise<number> {
    const { address, port } = this.#options;
    const host = address.includes(':') ? `[${address}]` : address;
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(
        `${host}:${port}`,
        ServerCredentials.createInsecure(),
        (error, bound) => {
          if (!error) return resolve(bound);
          const message = `tracer cannot listen on ${host}:${port} for OTLP/gRPC`;
          reject(new Fault('conflict', message, { cause: error }));
        },
      );
    });
  }

  /** Lets running calls end, for a second at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#server.forceShutdown(), 1_000);
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    clearTimeout(timer);
  }

  async #receive(
    { metadata, request }: ServerUnaryCall<Buffer, Buffer>,
    respond: sendUnaryData<Buffer>,
  ): Promise<void> {
    try {
      await this.#admit(metadata);
      const form = { format: 'protobuf', coding: undefined } as const;
      const { rejected, reason } = await this.#options.intake.submit(request, form);
      const answer = { rejectedCount: rejected, rejection: reason };
      respond(null, asBuffer(exportAnswer('protobuf', answer)));
    } catch (error) {
      const fault = Fault.from(error);
      if (fault.code === 'internal') this.#options.log.error({ err: fault }, 'an export failed');
      respond(statusOf(fault));
    }
  }

  async #admit(metadata: Metadata): Promise<void> {
    const [header = ''] = metadata.get('authorization');
    const [, credential] = /^Bearer (\S+)$/i.exec(String(header)) ?? [];
    if (credential === undefined) {
      throw new Fault('unauthenticated', 'send a token in the metadata `authorization`');
    }
    const { permissions } = await this.#options.authenticator.identify(credential);
    requirePermission(permissions, ['tracer:write', peerPermission]);
  }
}

/** Senders try again only when they are told when (OTLP, section "OTLP/gRPC Throttling"). */
function statusOf(fault: Fault) {
  const code: grpcStatus = codes[fault.code].grpc;
  const message = fault.code === 'internal' ? 'the export failed' : fault.message;
  const metadata = new Metadata();
  if (fault.retryAfter !== undefined) {
    metadata.set('grpc-status-details-bin', asBuffer(failureAnswer('protobuf', fault)));
  }
  return { code, details: message, metadata };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

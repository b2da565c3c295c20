import { createServer, type AddressInfo } from 'node:net';
import { codes, Fault } from '../../kit/errors.ts';
import { GrpcServer, type GrpcMethod } from '../../kit/grpc/grpc-server.ts';
import type { GrpcCall } from '../../kit/grpc/incoming-call.ts';
import type { GrpcStatus } from '../../kit/grpc/status.ts';
import { bearerTokenOf } from '../../kit/http/credential.ts';
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

type Call = GrpcCall<undefined>;

/** Its messages stay bytes: intake reads them in its thread, and takes over the memory of a copy. */
const exportMethod: GrpcMethod = {
  path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  requestDeserialize: (bytes) => new Uint8Array(bytes),
  responseSerialize: (answer) => answer as Uint8Array,
};

/** An answer counts spans and names one reason. */
const answerBytesMax = 64 * 1024;
const stopMs = 1_000;

/** The server of OTLP/gRPC: without TLS, with the token in the metadata `authorization`. */
export class OtlpGrpcServer implements AsyncDisposable {
  readonly #options: GrpcOptions;
  readonly #server = new GrpcServer<undefined>({
    requestBytesMax: exportBytesMax,
    answerBytesMax,
    statusOf: (error) => this.#statusOf(error),
  });
  readonly #listener = createServer({ noDelay: true }, (socket) =>
    this.#server.accept(socket, undefined),
  );

  constructor(options: GrpcOptions) {
    this.#options = options;
    // The method made it.
    this.#server.addUnary(exportMethod, (request, call) =>
      this.#receive(request as Uint8Array, call),
    );
  }

  /** Listens; answers the port. A Fault `conflict` says that it is taken. */
  listen(): Promise<number> {
    const { address, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#listener.on('error', (cause) => {
        const message = `tracer cannot listen on ${address}:${port} for OTLP/gRPC`;
        reject(new Fault('conflict', message, { cause }));
      });
      // The address of a TCP server is never a text.
      this.#listener.listen(port, address, () =>
        resolve((this.#listener.address() as AddressInfo).port),
      );
    });
  }

  /** Lets running calls end, for a second at most. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#server.close(stopMs);
  }

  async #receive(request: Uint8Array, call: Call): Promise<Uint8Array> {
    await this.#admit(call);
    const form = { format: 'protobuf', coding: undefined } as const;
    const { rejected, reason } = await this.#options.intake.submit(request, form);
    return exportAnswer('protobuf', { rejectedCount: rejected, rejection: reason });
  }

  async #admit(call: Call): Promise<void> {
    const [header = ''] = call.metadata('authorization');
    const credential = bearerTokenOf(String(header));
    if (credential === undefined) {
      throw new Fault('unauthenticated', 'send a token in the metadata `authorization`');
    }
    const { permissions } = await this.#options.authenticator.identify(credential);
    requirePermission(permissions, ['tracer:write', peerPermission]);
  }

  /** Senders try again only when they are told when (OTLP, section "OTLP/gRPC Throttling"). */
  #statusOf(error: unknown): GrpcStatus {
    const fault = Fault.from(error);
    const isInternal = fault.code === 'internal';
    if (isInternal) this.#options.log.error({ err: fault }, 'an export failed');
    const code = codes[fault.code].grpc;
    const message = isInternal ? 'the export failed' : fault.message;
    if (fault.retryAfter === undefined) return { code, message };
    const details = Buffer.from(failureAnswer('protobuf', fault));
    return { code, message, metadata: { 'grpc-status-details-bin': details } };
  }
}

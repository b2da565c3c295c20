import { codes, Fault, type Code } from '../errors.ts';

/** Values of headers by their names, in lower case; those whose names end in `-bin` are bytes. */
export type GrpcMetadata = Readonly<Record<string, string | Buffer>>;

/** How a call ends that fails. */
export interface GrpcStatus {
  /** 1 to 16 (grpc/grpc, doc/statuscodes.md). */
  readonly code: number;
  readonly message: string;
  /** Goes with it in the trailers; of texts what is no printable ASCII becomes a question mark. */
  readonly metadata?: GrpcMetadata;
}

/**
 * What the server itself refuses, before and beside the work of a method. Its code also stands in the
 * metadata, as `error-code` in upper case.
 */
export class GrpcRefusal extends Error {
  readonly status: GrpcStatus;

  constructor(code: Code, message: string, metadata: GrpcMetadata = {}) {
    super(message);
    const told = { 'error-code': code.toUpperCase(), ...metadata };
    this.status = { code: codes[code].grpc, message, metadata: told };
  }
}

/** The status of anything thrown; of what is no Fault, the caller learns nothing. */
export function statusOf(error: unknown): GrpcStatus {
  if (error instanceof GrpcRefusal) return error.status;
  const { code, message } = Fault.from(error);
  return { code: codes[code].grpc, message };
}

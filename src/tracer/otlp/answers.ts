import { codes, type Fault } from '../../kit/errors.ts';
import { ProtoWriter } from './writer.ts';

/** In which of OTLP's two forms an export came, and is answered. */
export type ExportFormat = 'protobuf' | 'json';

export const contentTypes = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
} as const satisfies Record<ExportFormat, string>;

export interface Rejected {
  readonly rejectedCount: number;
  readonly rejection?: string | undefined;
}

/**
 * An ExportTraceServiceResponse: full success where nothing was rejected, else OTLP's partial
 * success. Both go out with status 200.
 */
export function exportAnswer(format: ExportFormat, rejected: Rejected): Uint8Array {
  const { rejectedCount, rejection = '' } = rejected;
  if (format === 'json') return jsonBytes(partialSuccess(rejectedCount, rejection));
  const writer = new ProtoWriter();
  if (rejectedCount > 0)
    writer.message(1, () => {
      writer.unsigned(1, rejectedCount);
      if (rejection) writer.text(2, rejection);
    });
  return writer.take();
}

function partialSuccess(rejectedCount: number, errorMessage: string): object {
  if (rejectedCount === 0) return {};
  return { partialSuccess: { rejectedSpans: String(rejectedCount), errorMessage } };
}

const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo';

/**
 * A refusal as OTLP wants it: google.rpc.Status, with RetryInfo where the fault says when to come
 * again (without it a gRPC client does not repeat what was refused for lack of room).
 */
export function failureAnswer(format: ExportFormat, fault: Fault): Uint8Array {
  const { message, retryAfter } = fault;
  const code = codes[fault.code].grpc;
  if (format === 'json') return jsonBytes(jsonStatus(code, message, retryAfter));
  const writer = new ProtoWriter();
  writer.unsigned(1, code);
  writer.text(2, message);
  if (retryAfter !== undefined) writer.message(3, () => writeRetryInfo(writer, retryAfter));
  return writer.take();
}

function jsonStatus(code: number, message: string, retryAfter: number | undefined): object {
  if (retryAfter === undefined) return { code, message };
  return { code, message, details: [{ '@type': retryInfo, retryDelay: `${retryAfter}s` }] };
}

/** A google.protobuf.Any that holds RetryInfo, whose delay is a google.protobuf.Duration. */
function writeRetryInfo(writer: ProtoWriter, seconds: number): void {
  const whole = Math.floor(seconds);
  const nanos = Math.round((seconds - whole) * 1e9);
  writer.text(1, retryInfo);
  writer.message(2, () =>
    writer.message(1, () => {
      if (whole > 0) writer.unsigned(1, whole);
      if (nanos > 0) writer.unsigned(2, nanos);
    }),
  );
}

function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

// The headers of gRPC over HTTP/2 (grpc/grpc, doc/PROTOCOL-HTTP2.md).
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { GrpcStatus } from './status.ts';

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Whether a content type is that of messages in protobuf. */
export function isGrpc(contentType: string | undefined): boolean {
  if (contentType === 'application/grpc') return true;
  return contentType !== undefined && /^application\/grpc(?:\+proto)?(?:;|$)/i.test(contentType);
}

/** The milliseconds of a `grpc-timeout`; undefined when it is not one. */
export function timeoutMsOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(amount) * ms;
}

/**
 * The values of a header: one text, or the bytes of each value where the name ends in `-bin`; none
 * when it was not sent.
 */
export function metadataOf(
  headers: IncomingHttpHeaders,
  name: string,
): readonly (string | Buffer)[] {
  const value = headers[name];
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : value.join(',');
  if (!name.endsWith('-bin')) return [text];
  return text.split(',').map((part) => Buffer.from(part.trim(), 'base64'));
}

/** The trailers of a status. */
export function trailersOf({ code, message, metadata = {} }: GrpcStatus): OutgoingHttpHeaders {
  const values = Object.entries(metadata).map(([name, value]) => [
    name,
    typeof value === 'string'
      ? value.replaceAll(/[^\x20-\x7e]/g, '?')
      : value.toString('base64').replace(/=+$/, ''),
  ]);
  return {
    'grpc-status': String(code),
    'grpc-message': percentEncoded(message),
    ...Object.fromEntries(values),
  };
}

/** A text as `grpc-message` has it: UTF-8, all but printable ASCII escaped. */
function percentEncoded(text: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(text)) return text;
  const bytes = Array.from(Buffer.from(text), (byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x25
      ? `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
      : String.fromCodePoint(byte),
  );
  return bytes.join('');
}

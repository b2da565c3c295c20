import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../../kit/errors.ts';
import { inflateBody } from '../otlp/inflate.ts';

/** Largest document in bytes, as it comes and inflated. */
export const documentBytesMax = 16 * 1024 * 1024;

/**
 * The text of a JSON document as it was sent, inflated as its Content-Encoding says; a file that was
 * gzipped before is inflated too.
 */
export async function readDocument(bytes: Buffer, headers: IncomingHttpHeaders): Promise<string> {
  const type = headers['content-type'] ?? '';
  if (/protobuf|thrift/.test(type)) {
    throw new Fault('invalid', 'the document must be JSON', {
      status: 415,
      reason: 'unsupported_media_type',
    });
  }
  const coding = headers['content-encoding'] ?? (isGzip(bytes) ? 'gzip' : undefined);
  return new TextDecoder().decode(await inflateBody(bytes, coding, documentBytesMax));
}

/** By its first bytes, with which no JSON begins. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

import { promisify } from 'node:util';
import { gunzip, gunzipSync, inflate, inflateRaw, inflateRawSync, inflateSync } from 'node:zlib';
import { Fault } from '../../kit/errors.ts';

type Inflater = 'gzip' | 'zlib' | 'raw';

const later = {
  gzip: promisify(gunzip),
  zlib: promisify(inflate),
  raw: promisify(inflateRaw),
} as const;

const atOnce = { gzip: gunzipSync, zlib: inflateSync, raw: inflateRawSync } as const;

/**
 * A request's body without its content coding (`gzip`, `deflate`, `identity` or none), inflated off
 * the thread. Throws a Fault: `too_large` where it is or becomes larger than `limit` bytes,
 * `invalid` where it is no such coding, with status 415 where the coding is not known.
 */
export async function inflateBody(
  body: Uint8Array,
  coding: string | undefined,
  limit: number,
): Promise<Uint8Array> {
  const inflater = inflaterOf(body, coding);
  if (!inflater) return bounded(body, limit);
  try {
    return await later[inflater](body, { maxOutputLength: limit });
  } catch (error) {
    throw faultOf(error, limit);
  }
}

/** `inflateBody` on this thread. */
export function inflateBodySync(
  body: Uint8Array,
  coding: string | undefined,
  limit: number,
): Uint8Array {
  const inflater = inflaterOf(body, coding);
  if (!inflater) return bounded(body, limit);
  try {
    return atOnce[inflater](body, { maxOutputLength: limit });
  } catch (error) {
    throw faultOf(error, limit);
  }
}

function inflaterOf(body: Uint8Array, coding = 'identity'): Inflater | undefined {
  const name = coding.trim().toLowerCase();
  if (name === 'identity' || name === '') return undefined;
  if (name === 'gzip' || name === 'x-gzip') return 'gzip';
  if (name === 'deflate') return hasZlibHeader(body) ? 'zlib' : 'raw';
  throw new Fault('invalid', 'The body may be coded as gzip, deflate or not at all.', {
    reason: 'unsupported_encoding',
    status: 415,
  });
}

/** HTTP's `deflate` is zlib's format (RFC 9110, 8.4.1.2), but some senders leave its header out. */
function hasZlibHeader(body: Uint8Array): boolean {
  const [first = 0, second = 0] = body;
  return (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

function bounded(body: Uint8Array, limit: number): Uint8Array {
  if (body.length > limit) throw tooLarge(limit);
  return body;
}

function faultOf(error: unknown, limit: number): Fault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(limit);
  return new Fault('invalid', 'The body is not coded as its Content-Encoding says.', {
    reason: 'malformed_encoding',
    cause: error,
  });
}

function tooLarge(limit: number): Fault {
  return new Fault('too_large', `A body may have at most ${limit} bytes, inflated too.`, {
    reason: 'payload_too_large',
  });
}

// Length-Prefixed-Message (grpc/grpc, doc/PROTOCOL-HTTP2.md): one byte that says whether the message is
// compressed, four with its length, the message.
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { hasErrorCode } from '../errors.ts';
import { GrpcRefusal } from './status.ts';

/** A message as it came. */
export interface WireMessage {
  readonly isCompressed: boolean;
  readonly bytes: Buffer;
}

const headBytes = 5;

const inflaters = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
]);

/** What is said to clients in `grpc-accept-encoding`. */
export const acceptedEncodings = ['identity', ...inflaters.keys()].join(',');

/** Throws a GrpcRefusal for an encoding that is not known here. */
export function requireEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity' || inflaters.has(encoding)) return;
  throw new GrpcRefusal('unimplemented', `messages may be encoded as ${acceptedEncodings}`, {
    'grpc-accept-encoding': acceptedEncodings,
  });
}

/** A message that is not compressed, behind its head. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headBytes);
  return frame;
}

/** The bytes of a compressed message; rejects with a GrpcRefusal when they are more than `limit`. */
export async function inflated(
  bytes: Buffer,
  encoding: string | undefined,
  limit: number,
): Promise<Buffer> {
  const inflater = inflaters.get(encoding ?? 'identity');
  if (!inflater) throw new GrpcRefusal('internal', 'the message is compressed, but not said how');
  try {
    return await inflater(bytes, { maxOutputLength: limit });
  } catch (error) {
    if (hasErrorCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(limit);
    throw new GrpcRefusal('internal', `the message is not ${encoding}`);
  }
}

/** Finds the messages in the pieces of a body, none of which is larger than the limit. */
export class MessageReader {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Bytes of the message that has begun, with its head; 0: its head is not there yet. */
  #wanted = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether bytes are left that no message was made of. */
  get hasRest(): boolean {
    return this.#size > 0;
  }

  /** Throws a GrpcRefusal as soon as a message says that it will be too large. */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    this.#readHead();
  }

  /** The next message that is there as a whole. */
  next(): WireMessage | undefined {
    if (this.#wanted === 0 || this.#size < this.#wanted) return undefined;
    const whole = this.#joined();
    const message = {
      isCompressed: whole[0] === 1,
      bytes: whole.subarray(headBytes, this.#wanted),
    };
    const rest = whole.subarray(this.#wanted);
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#wanted = 0;
    this.#readHead();
    return message;
  }

  #readHead(): void {
    if (this.#wanted > 0 || this.#size < headBytes) return;
    const [first] = this.#pieces;
    const head = first && first.length >= headBytes ? first : this.#joined();
    const flag = head[0];
    if (flag !== 0 && flag !== 1) throw new GrpcRefusal('internal', 'the body holds no message');
    const length = head.readUInt32BE(1);
    if (length > this.#limit) throw tooLarge(this.#limit);
    this.#wanted = headBytes + length;
  }

  #joined(): Buffer {
    const [first] = this.#pieces;
    if (first && this.#pieces.length === 1) return first;
    const joined = Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return joined;
  }
}

function tooLarge(limit: number): GrpcRefusal {
  return new GrpcRefusal('exhausted', `a message may have at most ${limit} bytes`);
}

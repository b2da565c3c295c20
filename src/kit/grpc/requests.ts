import { inflated, MessageReader } from './frames.ts';
import type { IncomingCall } from './incoming-call.ts';
import { GrpcRefusal } from './status.ts';

/** Calls back with the one message of a request when all of it is there; refuses none, and more. */
export function receiveOne<Peer>(call: IncomingCall<Peer>, take: (message: Buffer) => void): void {
  const { stream, options } = call;
  const reader = new MessageReader(options.requestBytesMax);
  stream.on('data', (piece: Buffer) => {
    if (call.isEnded) return;
    try {
      reader.push(piece);
    } catch (error) {
      call.fail(error);
    }
  });
  stream.on('end', () => {
    if (call.isEnded) return;
    try {
      takeOnly(reader, call, take);
    } catch (error) {
      call.fail(error);
    }
  });
}

/** The messages of a request as they come; nothing more is read while one is being worked on. */
export async function* receiveAll<Peer>(call: IncomingCall<Peer>): AsyncGenerator<Buffer> {
  const { stream, options } = call;
  const reader = new MessageReader(options.requestBytesMax);
  const pieces = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const piece of pieces) {
    reader.push(piece);
    for (let message = reader.next(); message; message = reader.next()) {
      yield message.isCompressed ? await inflate(message.bytes, call) : message.bytes;
    }
  }
  if (reader.hasRest) throw cutOff();
}

function takeOnly<Peer>(
  reader: MessageReader,
  call: IncomingCall<Peer>,
  take: (message: Buffer) => void,
): void {
  const message = reader.next();
  if (!message) throw reader.hasRest ? cutOff() : notOne();
  if (reader.hasRest) throw notOne();
  if (!message.isCompressed) return take(message.bytes);
  inflate(message.bytes, call)
    .then(take)
    .catch((error: unknown) => call.fail(error));
}

function inflate<Peer>(bytes: Buffer, { encoding, options }: IncomingCall<Peer>): Promise<Buffer> {
  return inflated(bytes, encoding, options.requestBytesMax);
}

function cutOff(): GrpcRefusal {
  return new GrpcRefusal('internal', 'the request ends in the middle of a message');
}

/** A code for just this (grpc/grpc, doc/statuscodes.md). */
function notOne(): GrpcRefusal {
  return new GrpcRefusal('unimplemented', 'the method takes exactly one message');
}

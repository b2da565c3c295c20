import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import type { IssuedIdentity } from '../../src/mesh/certificates/renewed-identity.ts';
import { awake } from '../harness/load.ts';

/** What a limit is told: its certificate, what it answers (base64, with the frame's head) and where. */
export interface GrpcLimit {
  readonly kind: 'http2' | 'grpc-js';
  readonly server: IssuedIdentity;
  readonly answer: string;
  readonly path: string;
}

/** A call as it goes over the wire. */
export interface RawCall {
  readonly path: string;
  /** A message behind its head of five bytes. */
  readonly frame: Buffer;
}

/** Calls that are under way at the same time, on one connection. */
const inFlight = 64;

/** Speaks gRPC by node:http2 alone, the same to all servers, so that none is measured by its own client. */
export class RawGrpcClient implements Disposable {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
  }

  static async open(port: number, identity: IssuedIdentity): Promise<RawGrpcClient> {
    const { ca, certificate, privateKey } = identity;
    const session = connect(`https://localhost:${port}`, {
      ca,
      cert: certificate,
      key: privateKey,
    });
    await once(session, 'connect');
    return new RawGrpcClient(session);
  }

  /** Makes one call and answers its bytes with their head; rejects unless its status is OK. */
  call({ path, frame }: RawCall): Promise<Buffer> {
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const pieces: Buffer[] = [];
    let trailers: Readonly<Record<string, unknown>> = {};
    return new Promise((resolve, reject) => {
      stream.on('response', (headers) => (trailers = headers));
      stream.on('trailers', (given) => (trailers = given));
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('error', reject);
      stream.on('end', () => {
        if (trailers['grpc-status'] === '0') resolve(Buffer.concat(pieces));
        else reject(new Error(`${path}: ${String(trailers['grpc-message'])}`));
      });
      stream.end(frame);
    });
  }

  /** Makes a call so many times, 64 at once. */
  async repeat(call: RawCall, times: number): Promise<void> {
    let taken = 0;
    const work = async () => {
      while (taken < times) {
        taken += 1;
        await this.call(call);
      }
    };
    await awake(() => Promise.all(Array.from({ length: inFlight }, work)));
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

/** A message behind its head: not compressed, its length. */
export function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

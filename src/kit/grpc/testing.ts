import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type Settings,
} from 'node:http2';
import { createServer, type AddressInfo } from 'node:net';
import { Lifetime } from '../lifecycle.ts';
import { silentLog } from '../testing.ts';
import { framed } from './frames.ts';
import { GrpcServer, type GrpcMethod, type GrpcServerOptions } from './grpc-server.ts';

/** A method whose messages are JSON: what goes on the wire is the caller's affair. */
export function jsonMethod(name: string): GrpcMethod {
  return {
    path: `/test.Service/${name}`,
    requestDeserialize: (bytes) => JSON.parse(bytes.toString()) as object,
    responseSerialize: (answer) => Buffer.from(JSON.stringify(answer)),
  };
}

/** A message of it behind its head. */
export function jsonFrame(message: object): Buffer {
  return framed(Buffer.from(JSON.stringify(message)));
}

/** A server on a port of its own, without TLS; its peers are the ports that they call from. */
export async function startGrpc(options: Partial<GrpcServerOptions<number>> = {}) {
  const lifetime = new Lifetime(silentLog);
  const server = new GrpcServer<number>({
    requestBytesMax: 64 * 1024,
    answerBytesMax: 64 * 1024,
    ...options,
  });
  const listener = createServer((socket) => server.accept(socket, socket.remotePort ?? 0));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  lifetime.defer('the listener', () => void listener.close());
  lifetime.defer('the server', () => server.close(0));
  const { port } = listener.address() as AddressInfo;
  return {
    server,
    port,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** What came of a call that was made by hand. */
export interface RawAnswer {
  readonly headers: IncomingHttpHeaders;
  /** Empty when all of them came with the headers. */
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Of the RST_STREAM that ended it; 0 also when there was none. */
  readonly rstCode: number;
}

export interface RawRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** The pieces of the body, each in a frame of its own. */
  readonly pieces?: readonly Buffer[];
  /** Whether the request never ends. */
  readonly isOpen?: boolean;
}

/** Speaks to a server by node:http2 alone. */
export class RawClient implements Disposable {
  readonly session: ClientHttp2Session;

  constructor(port: number, settings: Settings = {}) {
    this.session = connectHttp2(`http://127.0.0.1:${port}`, { settings });
    this.session.on('error', () => {});
  }

  /** Begins a call of a method of `jsonMethod`; the headers named here replace the usual ones. */
  request(name: string, headers: RawRequest['headers'] = {}) {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': `/test.Service/${name}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    stream.on('error', () => {});
    return stream;
  }

  /** Makes a call and waits for its end. */
  call(name: string, { headers, pieces = [], isOpen }: RawRequest = {}): Promise<RawAnswer> {
    const stream = this.request(name, headers);
    for (const piece of pieces) stream.write(piece);
    if (!isOpen) stream.end();
    let answered: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const body: Buffer[] = [];
    stream.on('response', (given) => (answered = given));
    stream.on('trailers', (given) => (trailers = given));
    stream.on('data', (piece: Buffer) => body.push(piece));
    return new Promise((resolve) => {
      stream.on('close', () => {
        const { rstCode } = stream;
        resolve({ headers: answered, trailers, body: Buffer.concat(body), rstCode });
      });
    });
  }

  [Symbol.dispose](): void {
    this.session.destroy();
  }
}

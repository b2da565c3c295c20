import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

/** A request as the target saw it. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real HTTP server on loopback that answers well and badly, for tests of outgoing calls. */
export interface Target extends AsyncDisposable {
  readonly port: number;
  readonly origin: string;
  readonly arrivals: Arrival[];
}

/** Resolves when the target listens on a free port. */
export async function startTarget(): Promise<Target> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => void receive(request, response, arrivals));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, origin: `http://127.0.0.1:${port}`, arrivals, [Symbol.asyncDispose]: close };
}

/** A resolver for names under `.test`, which records what it was asked; `silent.test` hangs. */
export function createResolver(): { lookup: LookupFunction; asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (hostname, _options, callback) => {
    asked.push(hostname);
    if (hostname === 'silent.test') return;
    const isAgain = asked.filter((name) => name === hostname).length > 1;
    const rebound = isAgain ? ['10.0.0.1'] : ['127.0.0.1'];
    const found = hostname === 'rebind.test' ? rebound : names[hostname];
    if (!found) return callback(new Error(`getaddrinfo ENOTFOUND ${hostname}`), []);
    const addresses = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    callback(null, addresses);
  };
  return { lookup, asked };
}

const names: Record<string, readonly string[]> = {
  localhost: ['127.0.0.1'],
  'ok.test': ['127.0.0.1'],
  'meta.test': ['169.254.169.254'],
  'mixed.test': ['127.0.0.1', '10.0.0.1'],
  'mapped.test': ['::ffff:10.0.0.1'],
  'nat64.test': ['64:ff9b::a00:1'],
  'zero.test': ['0.0.0.0'],
  'odd.test': ['0x7f.1'],
  'empty.test': [],
};

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  arrivals: Arrival[],
): Promise<void> {
  const { method = '', url: path = '', headers } = request;
  const arrival = { method, path, headers, body: await text(request) };
  arrivals.push(arrival);
  const url = new URL(path, 'http://target.test');
  const [, kind = '', argument = ''] = url.pathname.split('/');
  const answer = answers[kind] ?? answerEcho;
  answer({ response, argument, query: url.searchParams, arrival });
}

interface Question {
  readonly response: ServerResponse;
  readonly argument: string;
  readonly query: URLSearchParams;
  readonly arrival: Arrival;
}

const largeBytes = 2 * 1024 * 1024;
const packers: Record<string, (body: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

function answerEcho({ response, arrival }: Question): void {
  response.end(JSON.stringify(arrival));
}

function sendPacked(response: ServerResponse, coding: string, body: Buffer): void {
  response.setHeader('content-encoding', coding);
  response.end(packers[coding]?.(body));
}

function sendRedirect(response: ServerResponse, status: number, location: string): void {
  response.writeHead(status, { location }).end('moved');
}

const answers: Record<string, (question: Question) => void> = {
  never: () => {},
  endless: ({ response }) => void response.write('a beginning'),
  destroy: ({ response }) => void response.destroy(),
  text: ({ response }) => void response.end('grüße'),
  typed: ({ response, query }) => {
    response.setHeader('content-type', query.get('type') ?? 'text/plain');
    response.end(Buffer.from(query.get('hex') ?? '', 'hex'));
  },
  status: ({ response, argument }) => void response.writeHead(Number(argument)).end(),
  large: ({ response }) => {
    response.setHeader('content-length', largeBytes);
    response.end(Buffer.alloc(largeBytes));
  },
  unannounced: ({ response }) => {
    response.write(Buffer.alloc(largeBytes / 2));
    response.end(Buffer.alloc(largeBytes / 2));
  },
  bomb: ({ response, argument }) => sendPacked(response, argument, Buffer.alloc(5 * largeBytes)),
  packed: ({ response, argument }) => {
    sendPacked(response, argument, Buffer.from(JSON.stringify({ coding: argument })));
  },
  broken: ({ response }) => {
    response.setHeader('content-encoding', 'gzip');
    response.end('this is not gzip');
  },
  redirect: ({ response, query }) => {
    sendRedirect(response, Number(query.get('status')), query.get('to') ?? '/');
  },
  chain: ({ response, argument }) => {
    if (argument === '0') response.end('arrived');
    else sendRedirect(response, 302, `/chain/${Number(argument) - 1}`);
  },
  loop: ({ response }) => sendRedirect(response, 302, '/loop'),
};

// What gRPC over mutual TLS cannot beat: `http2`, node:http2 that reads a request and answers the bytes
// of ours with the trailers that every answer of gRPC has; `grpc-js`, its server with the same bytes.
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { IssuedIdentity } from '../../src/mesh/certificates/renewed-identity.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { GrpcLimit } from './grpc-client.ts';

function startHttp2({ ca, certificate, privateKey }: IssuedIdentity, answer: Buffer) {
  const server = createSecureServer({
    ca,
    cert: certificate,
    key: privateKey,
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.on('end', () => {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  return once(server, 'listening').then(() => (server.address() as AddressInfo).port);
}

/** The answer's frame goes by itself: five bytes less than the message and its head. */
async function startGrpcJs(identity: IssuedIdentity, { answer, path }: GrpcLimit): Promise<number> {
  const message = Buffer.from(answer, 'base64').subarray(5);
  const server = new Server();
  const pass = (bytes: Buffer) => bytes;
  const method = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  };
  server.addService(
    { method },
    {
      method: (_: unknown, respond: (error: null, value: Buffer, trailers: Metadata) => void) =>
        respond(null, message, new Metadata()),
    },
  );
  const { ca, certificate, privateKey } = identity;
  const credentials = ServerCredentials.createSsl(
    Buffer.from(ca),
    [{ cert_chain: Buffer.from(certificate), private_key: Buffer.from(privateKey) }],
    true,
  );
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

const limit = JSON.parse(process.argv[2] ?? '') as GrpcLimit;
const { kind, server, answer } = limit;
const port =
  kind === 'http2'
    ? await startHttp2(server, Buffer.from(answer, 'base64'))
    : await startGrpcJs(server, limit);
serveOrders({ port }, () => {});

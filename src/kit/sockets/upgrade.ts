import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** A connection that the HTTP parser has let go of because its request asked for an upgrade. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the peer sent behind the request's head. */
  readonly head: Buffer;
}

/** True when the handshake asks for a WebSocket and nothing else. */
export function asksForWebSocket({ request }: Upgrade): boolean {
  return request.headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Gives the request back to the HTTP server without its `Upgrade` header, which a server may ignore
 * (RFC 9110, section 7.8). Without this, clients that offer HTTP/2 by `Upgrade: h2c`, as Java's does,
 * would get no answer from a service that has sockets.
 */
export function ignoreUpgrade(server: Server, { request, socket, head }: Upgrade): void {
  const { method, url, httpVersion, rawHeaders } = request;
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') text += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { Fault } from '../../kit/errors.ts';
import type { IssuedIdentity, RenewedIdentity } from '../certificates/renewed-identity.ts';
import { peerIdentityOf, type PeerIdentity } from '../certificates/spiffe.ts';

export interface ListenerOptions {
  readonly address: string;
  /** 0 is any free one. */
  readonly port: number;
  readonly identity: RenewedIdentity;
  /**
   * Takes over each connection whose client certificate one of our roots vouches for; the peer is
   * undefined when the certificate names no agent.
   */
  readonly onConnection: (socket: TLSSocket, peer: PeerIdentity | undefined) => void;
}

const handshakeMsMax = 5_000;
const connectionsMax = 20_000;

/**
 * Listens with mutual TLS under a certificate that is exchanged as it runs. Clients without a
 * certificate of the trusted roots get no connection. It reads each client's certificate once, because
 * reading one costs more than a whole call.
 */
export class TlsListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { identity } = options;
    this.#server = createServer(
      {
        ...contextOf(identity.current),
        requestCert: true,
        rejectUnauthorized: true,
        ALPNProtocols: ['h2'],
        minVersion: 'TLSv1.2',
        handshakeTimeout: handshakeMsMax,
        noDelay: true,
      },
      (socket) => this.#take(socket),
    );
    this.#server.maxConnections = connectionsMax;
    // The other side's mistakes end its connection and nothing else.
    this.#server.on('tlsClientError', (_, socket) => socket.destroy());
    identity.onRenewal((renewed) => this.#server.setSecureContext(contextOf(renewed)));
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  /** Answers the port. A Fault `conflict` says that it is taken. */
  listen(): Promise<number> {
    const { address, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.on('error', (cause) => {
        const message = `mesh cannot listen on ${address}:${port} for gRPC`;
        reject(new Fault('conflict', message, { cause }));
      });
      // The address of a TCP server is never a text.
      this.#server.listen(port, address, () =>
        resolve((this.#server.address() as AddressInfo).port),
      );
    });
  }

  /** Takes no further connection. */
  stop(): void {
    this.#server.close();
  }

  /** Ends the connections that are left. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(socket: TLSSocket): void {
    if (socket.alpnProtocol !== 'h2') {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    this.#options.onConnection(socket, readPeer(socket));
  }
}

function readPeer(socket: TLSSocket): PeerIdentity | undefined {
  try {
    return peerIdentityOf(socket.getPeerCertificate());
  } catch {
    return undefined;
  }
}

function contextOf({ ca, certificate, privateKey }: IssuedIdentity) {
  return { ca, cert: certificate, key: privateKey };
}

import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';

/** What is used of a connection of Engine.IO, below Socket.IO. */
export interface EngineConnection {
  request: IncomingMessage | undefined;
  readonly id: string;
  readonly transport: object;
  once(event: 'close', listener: () => void): void;
  /** `discard`: at once, also where the client does not poll just then. */
  close(discard?: boolean): void;
}

/** The session that a request goes on with; empty where it begins one. */
export function sessionOf({ url = '' }: IncomingMessage): string {
  return new URLSearchParams(url.slice(url.indexOf('?'))).get('sid') ?? '';
}

/** Of each body that comes by polling. */
export function boundBodies(
  { transport }: Pick<EngineConnection, 'transport'>,
  bytesMax: number,
): void {
  if ('maxHttpBufferSize' in transport) transport.maxHttpBufferSize = bytesMax;
}

/** Ends one over a WebSocket with a code of RFC 6455; polling has none. */
export function closeWith(
  engine: Pick<EngineConnection, 'transport' | 'close'>,
  code: number,
  reason: string,
): void {
  const { transport } = engine;
  // What the transport `websocket` runs over is in none of its declarations.
  if ('socket' in transport) (transport.socket as WebSocket).close(code, reason);
  engine.close(true);
}

export function asksForScript({ url = '' }: IncomingMessage): boolean {
  return new URLSearchParams(url.slice(url.indexOf('?'))).has('j');
}

import type { IncomingMessage } from 'node:http';

/** What is used of a connection of Engine.IO, below Socket.IO. */
export interface EngineConnection {
  request: IncomingMessage | undefined;
  readonly id: string;
  readonly transport: object;
  once(event: 'close', listener: () => void): void;
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

export function asksForScript({ url = '' }: IncomingMessage): boolean {
  return new URLSearchParams(url.slice(url.indexOf('?'))).has('j');
}

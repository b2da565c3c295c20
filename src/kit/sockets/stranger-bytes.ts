import type { Duplex } from 'node:stream';

/** What somebody may send before they are known: a message of the usual size, with what is around it. */
const strangerBytesMax = 1024 * 1024 + 64 * 1024;

/** Drops a connection over which more comes before its peer is known. To be called once it is a WebSocket's. */
export function boundStranger(stream: Duplex, isKnown: () => boolean): void {
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (isKnown()) stream.off('data', count);
    else if (bytes > strangerBytesMax) stream.destroy();
  };
  stream.on('data', count);
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Ends every connection whose client takes nothing of an answer for so long. What waits for it lies in
 * memory, and would stay there after the answer has ended, for as long as the client keeps the connection.
 */
export function dropUnread(server: Server, silenceMs: number): void {
  server.timeout = silenceMs;
  // Where nobody listens the server ends whatever is silent.
  server.on('request', (_request, response) => response.on('timeout', dropWaiting));
}

/** A silent connection on which nothing waits is one whose answer takes its time. */
function dropWaiting(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

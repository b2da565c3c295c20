import { createServer } from 'node:net';
import { listenFault } from './kit/http/app.ts';

/**
 * Throws one clear sentence when a port is taken, before anything slow has begun. The servers still
 * check for themselves when they listen.
 */
export async function requireFreePorts(
  host: string,
  ports: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [service, port] of ports) {
    try {
      await tryPort(host, port);
    } catch (error) {
      throw listenFault(error, { service, host, port });
    }
  }
}

/** Listens on a port and lets it go again. */
export function tryPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

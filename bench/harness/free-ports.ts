import { once } from 'node:events';
import { createServer } from 'node:net';

const portsNeeded = 13;
const lowest = 20_000;
const highest = 32_000;

/** A port from which on the suite finds all its ports free; none is held, so another may still be first. */
export async function findPortBase(): Promise<number> {
  for (let base = lowest + (process.pid % 500) * portsNeeded; base < highest; base += portsNeeded) {
    const ports = Array.from({ length: portsNeeded }, (_, at) => base + at);
    const areFree = await Promise.all(ports.map(isFree));
    if (areFree.every(Boolean)) return base;
  }
  throw new Error(`no ${portsNeeded} ports in a row are free below ${highest}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

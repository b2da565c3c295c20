import { createServer } from 'node:http';
import { listen } from '../gateway/listen.ts';

/** A port that was free a moment ago. */
export async function findPort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listen(server));
  await new Promise((done) => void server.close(done));
  return Number(port);
}

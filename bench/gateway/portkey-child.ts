// Portkey's gateway without its console, in a process that says what it uses.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serveOrders } from '../harness/measured-child.ts';
import { listen } from '../harness/listen.ts';

const waitMs = 20_000;

async function findPort(): Promise<string> {
  const server = createServer();
  const { port } = new URL(await listen(server));
  await new Promise((done) => void server.close(done));
  return port;
}

async function waitUntilUp(url: string): Promise<void> {
  const until = Date.now() + waitMs;
  while (Date.now() < until) {
    const isUp = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isUp) return;
    await new Promise((done) => void setTimeout(done, 50));
  }
  throw new Error('Portkey did not start');
}

// It draws its start and says each error; the report goes to the same terminal.
process.stdout.write = () => true;
console.error = () => {};
const port = await findPort();
process.env['TRUSTED_CUSTOM_HOSTS'] = '127.0.0.1';
process.argv.push('--headless', `--port=${port}`);
const requirePeer = createRequire(resolve('bench/peers/package.json'));
const folder = resolve('bench/peers/node_modules/@portkey-ai/gateway');
const { bin } = requirePeer(resolve(folder, 'package.json')) as { readonly bin: string };
await import(pathToFileURL(resolve(folder, bin)).href);
const url = `http://127.0.0.1:${port}`;
await waitUntilUp(url);
serveOrders({ url }, () => {});

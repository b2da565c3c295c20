import Fastify, { type FastifyInstance } from 'fastify';
import { listenFault } from './kit/http/app.ts';
import type { AddressBook } from './addresses.ts';
import { checkHealth, type ServiceHealth } from './health.ts';

const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'";

/** The page at the console's address: every service, where it is, how it is, and its documentation. */
export class StatusPage implements AsyncDisposable {
  readonly #app: FastifyInstance = Fastify({ logger: false, forceCloseConnections: true });

  constructor(addresses: AddressBook) {
    this.#app.get('/', async (_request, reply) =>
      reply
        .header('content-security-policy', contentSecurityPolicy)
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(pageOf(await checkHealth(addresses))),
    );
    this.#app.get('/health', async () => ({ status: 'healthy' }));
    this.#app.get('/status.json', async () => ({ services: await checkHealth(addresses) }));
    this.#app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }));
  }

  /** Listens; throws one clear sentence when the port is taken. */
  async listen(host: string, port: number): Promise<void> {
    try {
      await this.#app.listen({ host, port });
    } catch (cause) {
      throw listenFault(cause, { service: 'console', host, port });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close();
  }
}

function pageOf(healths: readonly ServiceHealth[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>Ennead</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Ennead</h1>
<table>
<thead><tr><th>Service</th><th>Health</th><th>Version</th><th>Up</th><th>Address</th><th></th></tr></thead>
<tbody>
${healths.map(rowOf).join('\n')}
</tbody>
</table>
</main>
</body>
</html>
`;
}

function rowOf({ name, url, status, version, uptime, error }: ServiceHealth): string {
  const state = error ? `${status}: ${error}` : status;
  const address = escapeHtml(url);
  return `<tr>
<th scope="row">${escapeHtml(name)}</th>
<td><span class="dot ${status === 'healthy' ? 'good' : 'bad'}"></span> ${escapeHtml(state)}</td>
<td>${escapeHtml(version ?? '')}</td><td>${uptime === undefined ? '' : formatUptime(uptime)}</td>
<td><code>${address}</code></td>
<td><a href="${address}/docs">docs</a> · <a href="${address}/openapi.json">OpenAPI</a></td>
</tr>`;
}

/** Seconds as the two largest units: `3 d 4 h`, `5 min 6 s`, `7 s`. */
export function formatUptime(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ] as const;
  const first = units.findIndex(([, amount]) => amount > 0);
  const shown = first === -1 ? units.slice(-1) : units.slice(first, first + 2);
  return shown.map(([unit, amount]) => `${amount} ${unit}`).join(' ');
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 60rem; margin: 3rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; font-weight: 600; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; padding: .55rem .75rem .55rem 0; border-bottom: 1px solid #8884; }
thead th { font-weight: 500; opacity: .65; font-size: .85rem; }
.dot { display: inline-block; width: .6rem; height: .6rem; border-radius: 50%; }
.good { background: #2a9d5c; } .bad { background: #d1453b; }
`;

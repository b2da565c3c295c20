// A server to be measured: `auth`, the service on a PGlite folder; `noop`, a Fastify that reads a token
// and does nothing; `hash`, a Fastify that checks a password and no more; `peer`, the introspection of
// oidc-provider.
import Fastify from 'fastify';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Passwords } from '../../src/auth/accounts/passwords.ts';
import { openGround, startAuth } from '../../src/auth/testing.ts';
import { openDatabase } from '../../src/kit/database/database.ts';
import { listenAnywhere } from '../../src/kit/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { peerClient, type ServerHello } from './servers.ts';

const many = '1000000000';

/** Limits far away: what is measured is the work, not the refusal. */
const environment = {
  AUTH_LOGIN_ATTEMPTS: many,
  AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: many,
  AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: many,
  AUTH_REFRESHES_PER_HOUR: many,
  AUTH_VALIDATIONS_PER_MINUTE: many,
};

async function startService(): Promise<ServerHello> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-auth-'));
  const database = await openDatabase({ folder });
  const ground = await openGround(database);
  const service = await startAuth(ground, { environment });
  process.on('exit', () => void rm(folder, { recursive: true, force: true }));
  return { url: await listenAnywhere(service.host.http) };
}

async function startNoop(): Promise<ServerHello> {
  const app = Fastify({ logger: false });
  const body = {
    type: 'object',
    required: ['token'],
    properties: { token: { type: 'string', maxLength: 32_768 } },
  };
  const response = { 200: { type: 'object', properties: { valid: { type: 'boolean' } } } };
  app.post('/api/v1/auth/validate', { schema: { body, response } }, async () => ({ valid: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: urlOf(app.server.address()) };
}

async function startHash(): Promise<ServerHello> {
  const passwords = await Passwords.create();
  const hashed = await passwords.hash('a password');
  const app = Fastify({ logger: false });
  app.post('/api/v1/auth/login', async () => {
    return { valid: await passwords.verify(hashed, 'a password') };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: urlOf(app.server.address()) };
}

async function startPeer(): Promise<ServerHello> {
  // Loaded here, so that the others do not carry it.
  const { Provider } = await import('oidc-provider');
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = urlOf(server.address());
  const provider = new Provider(url, {
    clients: [
      {
        client_id: peerClient.id,
        client_secret: peerClient.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    features: {
      introspection: { enabled: true, allowedPolicy: () => true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
    },
  });
  server.on('request', provider.callback());
  return { url };
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}

const starters: Readonly<Record<string, () => Promise<ServerHello>>> = {
  auth: startService,
  noop: startNoop,
  hash: startHash,
  peer: startPeer,
};
const start = starters[process.argv[2] ?? ''];
if (!start) throw new Error('say which server: auth, noop, hash or peer');
serveOrders(await start(), () => {});

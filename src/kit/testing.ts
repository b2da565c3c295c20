import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from './bus/bus.ts';
import { openBus } from './bus/open-bus.ts';
import { readConfig, type ConfigOf, type Environment, type Settings } from './config.ts';
import type { Contract } from './contract.ts';
import { createEgress } from './egress/egress.ts';
import type { Database } from './database/database.ts';
import { openEmptyDatabase } from './database/testing.ts';
import { plainEnvelope, type Envelope } from './envelope.ts';
import { HttpServer, type HttpOptions } from './http/server.ts';
import { Authenticator } from './identity/authenticator.ts';
import { suiteAudience } from './identity/claims.ts';
import { RevocationList } from './identity/revocations.ts';
import { Verifier } from './identity/verifier.ts';
import { newId } from './ids.ts';
import { Lifetime } from './lifecycle.ts';
import { createLog } from './log.ts';
import { RateLimiter, type Rate } from './rate-limit.ts';
import type { Host, Peer, Service } from './service.ts';
import { Tracer, type SpanRecord } from './trace/trace.ts';

export const silentLog = createLog({ level: 'silent', isPretty: false });

const issuerUrl = 'http://issuer.test';
const keyId = 'test-key';

const portsInARow = 13;

/** An issuer of tokens for tests: real RS256 keys, no server. */
export interface TestIssuer {
  readonly url: string;
  readonly keyId: string;
  readonly privateKey: CryptoKey;
  readonly verifier: Verifier;
  readonly revocations: RevocationList;
  readonly authenticator: Authenticator;
  /** An access token; claims given here replace the default ones. */
  sign(claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Makes an issuer whose tokens its own authenticator accepts. */
export async function createTestIssuer(): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: keyId, use: 'sig', alg: 'RS256' };
  const revocations = new RevocationList();
  const keys = createLocalJWKSet({ keys: [jwk] });
  const verifier = new Verifier({ issuer: issuerUrl, keys, revocations });
  return {
    url: issuerUrl,
    keyId,
    privateKey,
    verifier,
    revocations,
    authenticator: new Authenticator(verifier, refuseApiKey),
    sign: (claims = {}, header = {}) =>
      new SignJWT({ ...defaultClaims(), ...claims })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: keyId, ...header })
        .sign(privateKey),
  };
}

function refuseApiKey(): Promise<never> {
  return Promise.reject(new Error('this issuer knows no API keys'));
}

function defaultClaims(): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return {
    sub: 'usr_test',
    iss: issuerUrl,
    aud: [suiteAudience],
    iat: now,
    nbf: now,
    exp: now + 3600,
    jti: newId('tok'),
    sid: 'ses_test',
    scope: '',
    roles: [],
    permissions: [],
    client_id: 'test',
    token_use: 'access',
    user: { id: 'usr_test', email: 'test@example.com', name: 'Test' },
  };
}

export interface TestServerOptions extends Partial<Omit<HttpOptions, 'contract'>> {
  readonly envelope?: Envelope;
  /** One of its own when absent. */
  readonly issuer?: TestIssuer;
}

const boundlessRate: Rate = { perMinute: 60_000, burst: 100_000 };

/** An HTTP edge for a contract, with an issuer of its own and the spans that it recorded. */
export async function createTestServer(contract: Contract, given: TestServerOptions = {}) {
  const { issuer = await createTestIssuer(), ...options } = given;
  const spans: SpanRecord[] = [];
  const http = new HttpServer({
    contract,
    envelope: plainEnvelope,
    authenticator: issuer.authenticator,
    limiter: new RateLimiter(boundlessRate),
    tracer: new Tracer((span) => spans.push(span)),
    log: silentLog,
    ...options,
  });
  return { http, issuer, spans };
}

export interface StartOptions {
  readonly environment?: Environment;
  /** The database to use, migrated or not; one of its own in memory when absent. */
  readonly database?: Database;
  /** Where it keeps files, which the caller removes; one of its own when absent. */
  readonly dataFolder?: string;
  /** Its further ports; any free ones when absent. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Stands in for the clients of other services. */
  readonly client?: Host<never>['client'];
  /** The bus that replicas share; one of its own when absent. */
  readonly bus?: Bus;
  /** Whose tokens it takes; an issuer of its own when absent. */
  readonly issuer?: TestIssuer;
  readonly peers?: readonly Peer[];
  /** How often an identity may call it; as good as without end when absent. */
  readonly rate?: Rate | undefined;
}

/** Starts a service as a process would host it, on a database, a bus and an issuer for tests. */
export async function startService<C extends Contract, S extends Settings>(
  service: Service<C, S>,
  options: StartOptions = {},
) {
  const { contract, envelope, settings, migrations } = service;
  const lifetime = new Lifetime(silentLog);
  const ownFolder = await mkdtemp(join(tmpdir(), `ennead-${contract.name}-`));
  lifetime.defer('the data folder', () => rm(ownFolder, { recursive: true }));
  const dataFolder = options.dataFolder ?? ownFolder;
  const database = options.database ?? lifetime.own('the database', await openEmptyDatabase());
  if (migrations) await database.migrate(contract.name, migrations);
  const bus = options.bus ?? lifetime.own('the bus', await openBus({ log: silentLog }));
  const limiter = new RateLimiter(options.rate ?? boundlessRate);
  const { http, issuer, spans } = await createTestServer(contract, {
    envelope,
    limiter,
    ...(options.issuer ? { issuer: options.issuer } : {}),
  });
  lifetime.defer('http', () => http.close(0));
  const host: Host<ConfigOf<S>> = {
    config: readConfig({ own: settings }, options.environment ?? {}).own,
    url: `http://${contract.name}.test`,
    peers: options.peers ?? [],
    address: '127.0.0.1',
    ports: { ...anyPorts(service), ...options.ports },
    dataFolder,
    serviceKeysFolder: join(dataFolder, 'service-keys'),
    database,
    bus,
    rate: service.rate,
    limiter,
    egress: lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed: true })),
    http,
    tracer: new Tracer((span) => spans.push(span)),
    log: silentLog,
    authenticator: issuer.authenticator,
    revocations: issuer.revocations,
    ownToken: { get: () => issuer.sign(), forget: () => {} },
    client: options.client ?? refuseClient,
    health: () => ({ status: 'healthy', version: contract.version, uptime: 0 }),
    announce: () => {},
  };
  const program = await service.load();
  lifetime.own(contract.name, await program.start(host));
  return {
    app: http.app,
    host,
    issuer,
    spans,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

function anyPorts({ ports = {} }: Pick<Service, 'ports'>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.keys(ports).map((name) => [name, 0]));
}

/** A port of the loopback that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * The first of thirteen ports in a row that are free now. They lie below 32,768, from where on systems give ports
 * to outgoing connections, which would take one before it is listened on.
 */
export async function freePortBase(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const base = 10_000 + Math.floor(Math.random() * 1_100) * 20;
    const ports = Array.from({ length: portsInARow }, (_, offset) => base + offset);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return base;
  }
  throw new Error('no thirteen free ports in a row were found');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function refuseClient(): never {
  throw new Error('this test gave no client of another service');
}

/** Listens on a free port of the loopback and answers the address. */
export async function listenAnywhere(http: HttpServer): Promise<string> {
  await http.listen('127.0.0.1', 0);
  const { port } = http.app.server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

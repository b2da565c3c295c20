import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import type { Bus } from '../kit/bus/bus.ts';
import { openBus } from '../kit/bus/open-bus.ts';
import { readConfig, type Environment } from '../kit/config.ts';
import { createEgress } from '../kit/egress/egress.ts';
import type { Database } from '../kit/database/database.ts';
import { emptySchema, openTestDatabase } from '../kit/database/testing.ts';
import { Fault } from '../kit/errors.ts';
import { HttpServer } from '../kit/http/server.ts';
import type { ReadJson } from '../kit/http/testing.ts';
import { Authenticator } from '../kit/identity/authenticator.ts';
import { createRemoteKeys } from '../kit/identity/remote-keys.ts';
import { RevocationList, revocationsStaleMs } from '../kit/identity/revocations.ts';
import { Verifier } from '../kit/identity/verifier.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import type { Log } from '../kit/log.ts';
import { RateLimiter } from '../kit/rate-limit.ts';
import type { Host, Peer } from '../kit/service.ts';
import { silentLog } from '../kit/testing.ts';
import { Tracer } from '../kit/trace/trace.ts';
import { parseApiKey } from './api-keys/api-key-text.ts';
import { authSettings, type AuthConfig } from './config.ts';
import { openSealer } from '../kit/secrets/sealing.ts';
import { auth } from './service.ts';

/** Where tests keep what outlives one start of the service. */
export interface Ground extends AsyncDisposable {
  readonly database: Database;
  readonly dataFolder: string;
}

export interface StartOptions {
  /** Over what makes tests quick: a known administrator and hardly any limits. */
  readonly environment?: Environment;
  readonly peers?: readonly Peer[];
  /** Takes the log lines, which nobody sees when it is absent. */
  readonly log?: Log;
  /** One of its own when absent. */
  readonly bus?: Bus;
  /** Takes the announcements. */
  readonly announce?: (line: string) => void;
}

/** The running service, reached through its own surface. */
export interface RunningAuth extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly host: Host<AuthConfig>;
  readonly url: string;
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    options?: CallOptions,
  ): Promise<Reply>;
  login(username: string, password: string): Promise<Reply>;
  /** `valid`, or why a token is not. */
  validity(token: string): Promise<string>;
  /** An access token of the administrator. */
  adminToken(): Promise<string>;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly ip?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer, with its body read as JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  readonly body: ReadJson;
}

export const adminPassword = 'correct horse battery staple';
const issuerUrl = 'http://auth.test';

/** An empty data folder, and a database with the service's empty tables: the one given, or its own. */
export async function openGround(shared?: Database): Promise<Ground> {
  const lifetime = new Lifetime(silentLog);
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-auth-'));
  lifetime.defer('the data folder', () => rm(dataFolder, { recursive: true }));
  const database = shared ?? lifetime.own('the database', await openTestDatabase());
  await emptySchema(database, 'auth', auth.migrations);
  return { database, dataFolder, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

/** The private signing key: what only who has both the database and the key file can read. */
export async function readSigningKey(ground: Ground): Promise<{ kid: string; pem: string }> {
  const rows = await ground.database.query<{ kid: string; private_key: string }>(
    'select kid, private_key from auth.signing_keys',
  );
  const { kid, private_key: sealed } = rows[0] ?? { kid: '', private_key: '' };
  const sealer = await openSealer({ folder: join(ground.dataFolder, 'secrets'), mayCreate: false });
  return { kid, pem: sealer.unseal(sealed, kid).toString() };
}

/** Starts the service as a process would host it; several may run on one ground. */
export async function startAuth(ground: Ground, options: StartOptions = {}): Promise<RunningAuth> {
  const lifetime = new Lifetime(silentLog);
  const log = options.log ?? silentLog;
  const bus = options.bus ?? lifetime.own('the bus', await openBus({ log }));
  const revocations = new RevocationList({ staleMs: revocationsStaleMs });
  const http = createHttp(revocations, log);
  lifetime.defer('http', () => http.close(0));
  const host: Host<AuthConfig> = {
    config: configOf(options.environment),
    url: issuerUrl,
    peers: options.peers ?? [],
    address: '127.0.0.1',
    ports: {},
    rate: auth.rate,
    limiter: new RateLimiter(auth.rate),
    dataFolder: ground.dataFolder,
    serviceKeysFolder: join(ground.dataFolder, 'service-keys'),
    database: ground.database,
    bus,
    egress: lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed: true })),
    http,
    tracer: new Tracer(() => {}),
    log,
    authenticator: refuseAll,
    revocations,
    ownToken: { get: () => Promise.reject(new Error('auth calls nobody')), forget: () => {} },
    client: () => {
      throw new Error('auth calls nobody');
    },
    health: () => ({ status: 'healthy', version: auth.contract.version, uptime: 0 }),
    announce: options.announce ?? (() => {}),
  };
  try {
    lifetime.own('auth', await (await auth.load()).start(host));
  } catch (error) {
    await lifetime[Symbol.asyncDispose]();
    throw error;
  }
  return running(host, lifetime);
}

/** Auth has no servers beside HTTP. */
const refuseAll = { identify: () => Promise.reject(new Error('nobody is known here')) };

function running(host: Host<AuthConfig>, lifetime: Lifetime): RunningAuth {
  const { app } = host.http;
  const call: RunningAuth['call'] = async (method, url, { token, body, ip, headers } = {}) => {
    const answer = await app.inject({
      method,
      url,
      headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
      ...(ip ? { remoteAddress: ip } : {}),
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const { statusCode: status, payload } = answer;
    return {
      status,
      headers: answer.headers,
      body: payload === '' ? undefined : JSON.parse(payload),
    };
  };
  const login = (username: string, password: string) =>
    call('POST', '/api/v1/auth/login', {
      body: { username, password, client_id: 'test', grant_type: 'password' },
    });
  const validity = async (token: string) => {
    const { body } = await call('POST', '/api/v1/auth/validate', { body: { token } });
    return body.valid ? 'valid' : body.error;
  };
  return {
    app,
    host,
    url: issuerUrl,
    call,
    login,
    validity,
    adminToken: async () => (await login('admin', adminPassword)).body.access_token,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

function createHttp(revocations: RevocationList, log: Log): HttpServer {
  const keys = createRemoteKeys({
    fetchKeys: async () => {
      const answer = await http.app.inject('/.well-known/jwks.json');
      return answer.json<JSONWebKeySet>();
    },
  });
  const verifier = new Verifier({ issuer: issuerUrl, keys, revocations });
  const http: HttpServer = new HttpServer({
    contract: auth.contract,
    envelope: auth.envelope,
    authenticator: new Authenticator(
      verifier,
      async (apiKey) => {
        const payload = { api_key: apiKey, client_id: 'test' };
        const url = '/api/v1/auth/api-key';
        const answer = await http.app.inject({ method: 'POST', url, payload });
        if (answer.statusCode !== 200) {
          throw new Fault('unauthenticated', 'the API key is not valid');
        }
        const { access_token, expires_in } = answer.json<Record<string, never>>();
        return { accessToken: access_token ?? '', expiresIn: Number(expires_in) };
      },
      (text) => parseApiKey(text) !== undefined,
    ),
    limiter: new RateLimiter({ perMinute: 1_000_000, burst: 1_000_000 }),
    tracer: new Tracer(() => {}),
    log,
  });
  return http;
}

function configOf(environment: Environment = {}): AuthConfig {
  const quick = {
    ENNEAD_ADMIN_PASSWORD: adminPassword,
    AUTH_LOGIN_ATTEMPTS: '1000000',
    AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: '1000000',
    AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '1000000',
    AUTH_VALIDATIONS_PER_MINUTE: '1000000',
  };
  return readConfig({ auth: authSettings }, { ...quick, ...environment }).auth;
}

import type { JSONWebKeySet } from 'jose';
import { PostgresQueryCompiler, type KyselyPlugin } from 'kysely';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import type { Environment } from '../../kit/config.ts';
import { healthRoute, type Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { Authenticator } from '../../kit/identity/authenticator.ts';
import { createRemoteKeys } from '../../kit/identity/remote-keys.ts';
import { RevocationFeed, type RevocationPage } from '../../kit/identity/revocation-feed.ts';
import {
  RevocationList,
  revocationsStaleMs,
  type Revocation,
} from '../../kit/identity/revocations.ts';
import { Verifier } from '../../kit/identity/verifier.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, silentLog } from '../../kit/testing.ts';
import { authContract, revocationTopic } from '../contract.ts';
import {
  adminPassword,
  openGround,
  readSigningKey,
  startAuth,
  type Ground,
  type Reply,
  type RunningAuth,
} from '../testing.ts';
import { Forge } from './forge.ts';

/** One attack: what it does, and what comes of it. */
export interface AttackCase {
  readonly name: string;
  readonly run: () => unknown;
  readonly expected: unknown;
}

/** What is attacked: the authentication service, and another that trusts its tokens. */
export interface Target extends AsyncDisposable {
  readonly ground: Ground;
  readonly auth: RunningAuth;
  readonly relying: HttpServer;
  readonly forge: Forge;
}

const things = Type.Object({ subject: Type.String() });

const relyingContract = {
  name: 'things',
  title: 'Things',
  version: '1.0.0',
  description: 'Stands for every service that trusts the tokens.',
  error: plainEnvelope.schema,
  acceptsSessionCookie: true,
  routes: {
    touch: {
      method: 'POST',
      url: '/things',
      summary: 'Touch things',
      schema: { response: { 200: things } },
    },
    list: {
      method: 'GET',
      url: '/things',
      summary: 'List things',
      schema: { response: { 200: things } },
    },
    manage: {
      method: 'GET',
      url: '/things/manage',
      summary: 'Manage things',
      permission: 'things:admin',
      schema: { response: { 200: things } },
    },
    health: healthRoute('/health', {}),
  },
} as const satisfies Contract;

/** Settings under which no limit is met. */
export const unlimited: Environment = {
  AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '1000000',
  AUTH_REFRESHES_PER_HOUR: '1000000',
};

/** Starts what the attacks go against. */
export async function openTarget(environment = unlimited): Promise<Target> {
  const lifetime = new Lifetime(silentLog);
  const ground = lifetime.own('the ground', await openGround());
  const auth = lifetime.own('auth', await startAuth(ground, { environment }));
  const pair = (await auth.login('admin', adminPassword)).body;
  const relying = await startRelying(auth, { lifetime, adminToken: pair.access_token });
  const forge = new Forge({ ...pair, ...(await readSigningKey(ground)) });
  return {
    ground,
    auth,
    relying,
    forge,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

async function startRelying(
  auth: RunningAuth,
  { lifetime, adminToken }: { readonly lifetime: Lifetime; readonly adminToken: string },
): Promise<HttpServer> {
  const revocations = new RevocationList({ staleMs: revocationsStaleMs });
  const feed = new RevocationFeed({
    list: revocations,
    topic: auth.host.bus.topic<Revocation>(revocationTopic),
    fetchPage: async (after): Promise<RevocationPage> => {
      const url = `/api/v1/auth/revocations?after=${after}`;
      return (await auth.call('GET', url, { token: adminToken })).body;
    },
    log: silentLog,
  });
  lifetime.own('the feed', feed);
  await feed.start();
  const keys = createRemoteKeys({
    fetchKeys: async () => (await auth.app.inject('/.well-known/jwks.json')).json<JSONWebKeySet>(),
  });
  const verifier = new Verifier({ issuer: auth.url, keys, revocations });
  const authenticator = new Authenticator(verifier, refuseApiKey, () => false);
  const { http } = await createTestServer(relyingContract, { authenticator });
  http.serve(relyingContract, {
    touch: subjectOf,
    list: subjectOf,
    manage: subjectOf,
    health: () => ({ status: 'healthy', version: '1.0.0', uptime: 0 }),
  });
  lifetime.defer('the relying service', () => http.close(0));
  return http;
}

function refuseApiKey(): Promise<never> {
  return Promise.reject(new Error('these attacks bring no API key'));
}

function subjectOf({ identity }: { readonly identity: { readonly subject: string } }) {
  return { subject: identity.subject };
}

interface Verdicts {
  readonly validate: string;
  readonly auth?: number;
  readonly relying?: number;
}

/** What all verifiers say of a token: `valid`, or why not; without a header only `validate` is asked. */
export async function verdictsOf(
  { auth, relying }: Target,
  token: string,
  { isSentInHeader = true }: { readonly isSentInHeader?: boolean } = {},
): Promise<Verdicts> {
  const asked = await auth.call('POST', '/api/v1/auth/validate', { body: { token } });
  expect(asked.headers['cache-control']).toBe('no-store');
  const validate =
    asked.body.valid === true ? 'valid' : (asked.body.error?.code ?? asked.body.error);
  if (!isSentInHeader) return { validate };
  const headers = { authorization: `Bearer ${token}` };
  const own = await auth.call('GET', '/api/v1/auth/users?limit=1', { headers });
  const other = await relying.app.inject({ url: '/things', headers });
  if (own.status !== 200) expectHarmless(own);
  if (own.status === 401) {
    const challenge = 'Bearer error="invalid_token"';
    expect(own.headers['www-authenticate']).toBe(challenge);
    expect(other.headers['www-authenticate']).toBe(challenge);
  }
  expectQuiet(other.payload);
  return { validate, auth: own.status, relying: other.statusCode };
}

/** What both kinds of verifier say of a good token, and of one that is refused for a reason. */
export const accepted = { validate: 'valid', auth: 200, relying: 200 };
export function refused(reason = 'token_invalid') {
  return { validate: reason, auth: 401, relying: 401 };
}

/** Status and code of a refusal, after a look at all that every refusal has in common. */
export function refusalOf(reply: Reply): { status: number; code: string } {
  expectHarmless(reply);
  return { status: reply.status, code: reply.body.error.code };
}

/** A refusal is in the service's envelope, in no cache, and tells nothing of the inside. */
export function expectHarmless({ status, headers, body }: Reply): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).not.toBe(500);
  expect(headers['cache-control']).toBe('no-store');
  expect(Value.Check(authContract.error, body), JSON.stringify(body)).toBe(true);
  expectQuiet(JSON.stringify(body));
}

function expectQuiet(text: string): void {
  expect(text).not.toMatch(
    /\.[jt]s:\d|node_modules|\b(select|insert|update) .*\b(from|into|set)\b/i,
  );
  expect(text).not.toMatch(/sqlstate|syntax error at|violates|argon2|PRIVATE KEY/i);
}

/** Both services still answer. */
export async function expectHealthy({ auth, relying }: Target): Promise<void> {
  expect((await auth.call('GET', '/health')).status).toBe(200);
  expect((await relying.app.inject('/health')).statusCode).toBe(200);
}

/** A user with tokens of a first login. */
export interface Victim {
  readonly id: string;
  readonly username: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

export const userPassword = 'a good password';
let userCount = 0;

/** Makes a user and logs it in. */
export async function createVictim(
  { auth, forge }: Target,
  roles: readonly string[] = ['user'],
  username = `victim${(userCount += 1)}`,
): Promise<Victim> {
  const body = { username, password: userPassword, email: 'v@example.com', name: 'V', roles };
  const made = await auth.call('POST', '/api/v1/auth/users', { token: forge.good, body });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const { body: pair } = await auth.login(username, userPassword);
  return {
    id: made.body.id,
    username,
    accessToken: pair.access_token,
    refreshToken: pair.refresh_token,
  };
}

/** A statement as the database gets it. */
interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The same ground, and all statements that are built on it from now on. */
export function recordStatements(ground: Ground): { ground: Ground; statements: Statement[] } {
  const statements: Statement[] = [];
  const compiler = new PostgresQueryCompiler();
  const recorder: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      const { sql, parameters } = compiler.compileQuery(node, queryId);
      statements.push({ sql, parameters });
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const database = new Proxy(ground.database, {
    get: (target, name) => {
      if (name === 'kysely') return (schema: string) => target.kysely(schema).withPlugin(recorder);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ground: { ...ground, database }, statements };
}

/** The newest audit events, the newest first. */
export async function auditEvents({ auth, forge }: Target, query = ''): Promise<Reply['body'][]> {
  const url = `/api/v1/auth/audit?limit=100${query}`;
  return (await auth.call('GET', url, { token: forge.good })).body.events;
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import { silentLog } from '../../kit/testing.ts';
import { openLinks, remote, serve } from '../links/testing.ts';
import { hasAuthorizations } from './authorization-store.ts';
import { Authorizations } from './authorizations.ts';
import { serveGuarded, type GuardedServer } from './testing.ts';

const registryUrl = 'http://127.0.0.1:9';
let database: Database;
let bus: Bus;
let sealer: Sealer;
let folder: string;
let server: GuardedServer;
let first: Replica;
let second: Replica;

type Replica = Awaited<ReturnType<typeof openReplica>>;

beforeAll(async () => {
  database = await openTestTables('registry', new URL('../migrations/', import.meta.url));
  bus = await openBus({ log: silentLog });
  folder = await mkdtemp(join(tmpdir(), 'registry-keys-'));
  sealer = await openSealer({ folder, mayCreate: true });
});

afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  server = await serveGuarded();
  [first, second] = [await openReplica(), await openReplica()];
});

afterEach(async () => {
  await first.authorizations.remove('con_a');
  for (const { links, authorizations } of [first, second]) {
    await authorizations[Symbol.asyncDispose]();
    await links[Symbol.asyncDispose]();
  }
  await server[Symbol.asyncDispose]();
});

/** One process of the registry; both know the same connection. */
async function openReplica() {
  const links: ReturnType<typeof openLinks> = openLinks({
    credentialsOf: (id, url) => authorizations.credentialsOf(id, url),
  });
  const { egress, directory, pool } = links;
  const authorizations: Authorizations = new Authorizations({
    sql: database,
    bus,
    sealer,
    egress,
    directory,
    url: registryUrl,
    onChanged: (id) => void pool.forget(id),
    log: silentLog,
  });
  await authorizations.start();
  directory.put(remote('con_a', server.url));
  return { links, authorizations };
}

/** What the browser of who logs in brings back. */
async function logIn(authorizationUrl: string) {
  const answer = await fetch(authorizationUrl, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location') ?? '');
  expect(back.href.startsWith(`${registryUrl}/oauth/callback?`)).toBe(true);
  const { state = '', code = '', iss = '' } = Object.fromEntries(back.searchParams);
  return { state, code, iss };
}

async function begin(replica: Replica): Promise<string> {
  const begun = await replica.authorizations.begin('con_a', {});
  if (!('authorizationUrl' in begun)) throw new Error('nobody has to log in');
  return begun.authorizationUrl;
}

async function greet({ links }: Replica): Promise<unknown> {
  const link = await links.pool.open('con_a');
  return (await link.callTool('greet', {})).content;
}

/** A server that refuses everybody, and what was shown to it. */
async function serveSpy() {
  const seen: (string | undefined)[] = [];
  const spy = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  return { ...spy, seen };
}

const robot = {
  grant: 'client_credentials',
  clientId: 'robot',
  clientSecret: 'secret',
} as const;
const welcome = [{ type: 'text', text: 'welcome' }];

test('a login that one replica began and another finished lets both call the server', async () => {
  await expect(greet(first)).rejects.toMatchObject({ reason: 'authorization_required' });
  await expect(greet(second)).rejects.toMatchObject({ reason: 'authorization_required' });
  const url = await begin(first);
  expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
  expect(new URL(url).searchParams.get('resource')).toBe(server.url);
  expect(new URL(url).searchParams.get('scope')).toBe('tools');
  const { name } = await second.authorizations.finish(await logIn(url));
  expect(name).toBe('con_a');
  expect(await greet(first)).toEqual(welcome);
  expect(await greet(second)).toEqual(welcome);
});

test('who logs in again does so as the client that is registered, on every replica', async () => {
  const earlier = await begin(first);
  await first.authorizations.finish(await logIn(await begin(second)));
  await first.authorizations.finish(await logIn(await begin(first)));
  expect(await greet(second)).toEqual(welcome);
  await first.authorizations.finish(await logIn(earlier));
  expect(server.registrations).toHaveLength(1);
});

test('another client is registered where the former is forgotten, by either side, or is for another scope', async () => {
  await first.authorizations.finish(await logIn(await begin(first)));
  server.forgetClients();
  await first.authorizations.finish(await logIn(await begin(first)));
  expect(server.registrations).toHaveLength(2);
  await first.authorizations.begin('con_a', { scope: 'tools files' });
  await first.authorizations.begin('con_a', { scope: 'tools files' });
  expect(server.registrations).toHaveLength(3);
  await first.authorizations.remove('con_a');
  await begin(first);
  expect(server.registrations).toHaveLength(4);
});

test('a state works once, and none that nobody was given works', async () => {
  const answer = await logIn(await begin(first));
  await first.authorizations.finish(answer);
  for (const state of [answer.state, 'made-up']) {
    const again = first.authorizations.finish({ ...answer, state });
    await expect(again).rejects.toMatchObject({ reason: 'unknown_state' });
  }
});

test('a state that is older than ten minutes works no more', async () => {
  const answer = await logIn(await begin(first));
  await database.query(
    `update registry.authorization_flows set created_at = now() - interval '11 minutes'`,
  );
  const late = first.authorizations.finish(answer);
  await expect(late).rejects.toMatchObject({ reason: 'unknown_state' });
});

test('an answer of another authorization server, a forged code and a refusal are refused', async () => {
  const mixed = await logIn(await begin(first));
  const mixedUp = first.authorizations.finish({ ...mixed, iss: 'https://evil.test' });
  await expect(mixedUp).rejects.toMatchObject({ reason: 'authorization_failed' });
  const forged = await logIn(await begin(first));
  const stolen = first.authorizations.finish({ ...forged, code: mixed.code });
  await expect(stolen).rejects.toMatchObject({ reason: 'authorization_failed' });
  const { state } = await logIn(await begin(first));
  const refused = first.authorizations.finish({ state, error: 'access_denied' });
  await expect(refused).rejects.toMatchObject({
    reason: 'login_refused',
    message: 'the login was refused: access_denied',
  });
  await expect(greet(first)).rejects.toMatchObject({ reason: 'authorization_required' });
});

test('tokens that ended are renewed once for all replicas, though a refresh works once', async () => {
  await first.authorizations.finish(await logIn(await begin(first)));
  await Promise.all([greet(first), greet(second)]);
  server.expire();
  const answers = await Promise.all([greet(first), greet(second), greet(first), greet(second)]);
  expect(answers).toEqual([welcome, welcome, welcome, welcome]);
  expect(server.refreshCount).toBe(1);
});

test('tokens that live for seconds are used for as long, and not renewed for each call', async () => {
  await using brief = await serveGuarded(20);
  first.links.directory.put(remote('con_a', brief.url));
  await first.authorizations.finish(await logIn(await begin(first)));
  for (let count = 0; count < 3; count++) expect(await greet(first)).toEqual(welcome);
  expect(brief.refreshCount).toBe(0);
});

test('when the login itself has ended, calls say that authorization is required', async () => {
  await first.authorizations.finish(await logIn(await begin(first)));
  server.expire();
  server.forgetLogins();
  await expect(greet(first)).rejects.toMatchObject({ reason: 'authorization_required' });
});

test('a refresh token that was refused is not shown again, by any replica, until somebody logs in', async () => {
  await first.authorizations.finish(await logIn(await begin(first)));
  server.expire();
  server.forgetLogins();
  for (const replica of [first, second, first]) {
    await expect(greet(replica)).rejects.toMatchObject({ reason: 'authorization_required' });
  }
  expect(server.refreshCount).toBe(1);
  await second.authorizations.finish(await logIn(await begin(second)));
  expect(await greet(first)).toEqual(welcome);
});

test('a refresh token is not shown again either where it is refused with 200, as at GitHub', async () => {
  await first.authorizations.finish(await logIn(await begin(first)));
  server.expire();
  server.forgetLogins();
  server.refuseAsGitHub();
  for (const replica of [first, second, first]) {
    await expect(greet(replica)).rejects.toMatchObject({ reason: 'authorization_required' });
  }
  expect(server.refreshCount).toBe(1);
});

test('while the authorization server is away calls say so, and go on when it is back', async () => {
  for (const request of [{}, robot]) {
    const begun = await first.authorizations.begin('con_a', request);
    if ('authorizationUrl' in begun) {
      await first.authorizations.finish(await logIn(begun.authorizationUrl));
    }
    server.expire();
    server.isIssuing = false;
    await expect(greet(first)).rejects.toMatchObject({ reason: 'authorization_server_away' });
    server.isIssuing = true;
    expect(await greet(second)).toEqual(welcome);
  }
});

test('with client credentials nobody has to log in', async () => {
  const begun = await first.authorizations.begin('con_a', robot);
  expect(begun).toEqual({ authorized: true });
  expect(await greet(second)).toEqual(welcome);
  server.expire();
  expect(await greet(second)).toEqual(welcome);
});

test('who has no client of their own is registered as one with a secret, once for as long as it is known', async () => {
  const alone = { grant: 'client_credentials' } as const;
  expect(await first.authorizations.begin('con_a', alone)).toEqual({ authorized: true });
  expect(await second.authorizations.begin('con_a', alone)).toEqual({ authorized: true });
  expect(await greet(first)).toEqual(welcome);
  expect(server.registrations).toMatchObject([
    { grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_basic' },
  ]);
  server.forgetClients();
  expect(await first.authorizations.begin('con_a', alone)).toEqual({ authorized: true });
  expect(server.registrations).toHaveLength(2);
});

test('the secret of a client goes to the authorization server that knows it, and no other', async () => {
  const begun = first.authorizations.begin('con_a', {
    ...robot,
    issuer: 'https://another.test',
  });
  await expect(begun).rejects.toMatchObject({
    code: 'invalid',
    reason: 'issuer_mismatch',
    detail: { issuer: new URL(server.url).origin },
  });
  expect(server.registrations).toEqual([]);
});

test('a secret or an issuer without the client to which it belongs is refused', async () => {
  for (const request of [{ clientSecret: 'secret' }, { issuer: new URL(server.url).origin }]) {
    const begun = first.authorizations.begin('con_a', request);
    await expect(begun).rejects.toMatchObject({ code: 'invalid', reason: 'client_id_needed' });
  }
});

test('nobody is sent to log in where PKCE is not supported for sure, nor registered there', async () => {
  server.hidePkce();
  const begun = first.authorizations.begin('con_a', {});
  await expect(begun).rejects.toMatchObject({ code: 'upstream', reason: 'pkce_unsupported' });
  expect(server.registrations).toEqual([]);
});

test('where no client can be registered it is said that one has to be named, and for which address', async () => {
  server.closeRegistration();
  const { origin: issuer } = new URL(server.url);
  await expect(first.authorizations.begin('con_a', {})).rejects.toMatchObject({
    code: 'upstream',
    reason: 'registration_unsupported',
    detail: { issuer, redirectUri: `${registryUrl}/oauth/callback` },
  });
  const begun = await first.authorizations.begin('con_a', { clientId: 'known' });
  expect(begun).toMatchObject({ authorizationUrl: expect.stringContaining('client_id=known') });
});

test('nobody is sent to log in for another server than the one that is called', async () => {
  const resource = new URL('/elsewhere', server.url).href;
  server.claimResource(resource);
  await expect(first.authorizations.begin('con_a', {})).rejects.toMatchObject({
    reason: 'resource_mismatch',
    detail: { resource },
  });
  expect(server.registrations).toEqual([]);
});

test('what an authorization server refuses is told in its own words', async () => {
  server.refuseRegistration({ error: 'invalid_redirect_uri', error_description: 'no loopback' });
  await expect(first.authorizations.begin('con_a', {})).rejects.toMatchObject({
    reason: 'authorization_failed',
    message: 'the authorization server refused: invalid_redirect_uri',
    detail: { error: 'invalid_redirect_uri', description: 'no loopback' },
  });
});

test('nothing that opens the server lies readable in the database', async () => {
  await first.authorizations.finish(await logIn(await begin(first)));
  const [row] = await database.query<{ text: string }>(
    `select sealed as text from registry.authorizations`,
  );
  expect(row?.text).toMatch(/^key-1\.[\w-]+$/);
});

test('tokens go when they are removed, and when the connection moves or leaves', async () => {
  const { directory } = first.links;
  const connection = directory.find('con_a')!;
  const leave = [
    () => first.authorizations.remove('con_a'),
    async () => directory.put(remote('con_a', `${server.url}?moved`)),
    async () => directory.put({ ...connection, status: 'disconnected' }),
  ];
  for (const end of leave) {
    directory.put(connection);
    await first.authorizations.finish(await logIn(await begin(first)));
    expect(await greet(second)).toEqual(welcome);
    await end();
    await expect
      .poll(async () => greet(second).catch((error: unknown) => error))
      .toMatchObject({ reason: 'authorization_required' });
  }
});

test('tokens are shown to no other address, though nobody has removed them yet', async () => {
  await using other = await serveSpy();
  await first.authorizations.finish(await logIn(await begin(first)));
  server.expire();
  // Here the news of the address has come, to the authorizations it has not.
  await using links = openLinks({
    credentialsOf: (id, url) => first.authorizations.credentialsOf(id, url),
  });
  links.directory.put(remote('con_a', other.url));
  const opened = links.pool.open('con_a');
  await expect(opened).rejects.toMatchObject({ reason: 'authorization_required' });
  expect(other.seen.length).toBeGreaterThan(0);
  expect(other.seen.filter((shown) => shown !== undefined)).toEqual([]);
  expect(server.refreshCount).toBe(0);
  expect(await greet(first)).toEqual(welcome);
});

test('tokens that come when the server has moved meanwhile are not kept', async () => {
  await using other = await serveSpy();
  const { directory } = first.links;
  const connection = directory.find('con_a')!;
  const grants = [
    async () => {
      const answer = await logIn(await begin(first));
      return () => first.authorizations.finish(answer);
    },
    async () => () => first.authorizations.begin('con_a', robot),
  ];
  for (const prepare of grants) {
    directory.put(connection);
    const grant = await prepare();
    server.onIssuing(() => directory.put(remote('con_a', other.url)));
    await expect(grant()).rejects.toMatchObject({ code: 'conflict', reason: 'address_changed' });
    expect(await hasAuthorizations(database)).toBe(false);
    await expect(greet(first)).rejects.toMatchObject({ reason: 'authorization_required' });
    expect(other.seen.filter((shown) => shown !== undefined)).toEqual([]);
  }
});

test('a server whose metadata points inwards is not followed', async () => {
  first.links.directory.put(remote('con_b', 'http://169.254.169.254/mcp'));
  const begun = first.authorizations.begin('con_b', {});
  await expect(begun).rejects.toMatchObject({ reason: 'egress_blocked' });
});

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../kit/database/database.ts';
import { adminPassword, openGround, startAuth, type RunningAuth } from '../testing.ts';
import { expectHarmless } from './testing.ts';

const base = '/api/v1/auth';
// A replica reads what the others revoked every second.
const waiting = { timeout: 10_000 };
const serverUrl = process.env['ENNEAD_TEST_POSTGRES_URL'];
const away = { status: 503, code: 'unavailable' };

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** What all operations that need the database answer while it is away. */
async function refusalsOf(auth: RunningAuth, { access_token, refresh_token }: Tokens) {
  const refresh = { refresh_token, grant_type: 'refresh_token' };
  const apiKey = `enn_${'0'.repeat(32)}_${'0'.repeat(64)}_00000000`;
  const replies = {
    login: await auth.login('admin', adminPassword),
    refresh: await auth.call('POST', `${base}/refresh`, { body: refresh }),
    revocation: await auth.call('POST', `${base}/revoke`, {
      token: access_token,
      body: { token: access_token },
    }),
    administration: await auth.call('GET', `${base}/users`, { token: access_token }),
    wrongKey: await auth.call('POST', `${base}/api-key`, {
      body: { api_key: apiKey, client_id: 'c' },
    }),
  };
  for (const reply of Object.values(replies)) expectHarmless(reply);
  return Object.fromEntries(
    Object.entries(replies).map(([name, { status, body }]) => [
      name,
      { status, code: body.error.code },
    ]),
  );
}

/** What needs the database is not available; a key that was never one of ours is refused without it. */
const allAway = {
  login: away,
  refresh: away,
  revocation: away,
  administration: away,
  wrongKey: { status: 401, code: 'invalid_api_key' },
};

async function validity(auth: RunningAuth, token: string): Promise<unknown> {
  return (await auth.call('POST', `${base}/validate`, { body: { token } })).body.valid;
}

test('H57: when the embedded database has ended, tokens are still checked and all else is unavailable', async () => {
  const database = await openDatabase({});
  await using ground = await openGround(database);
  await using auth = await startAuth(ground);
  const seen: Tokens = (await auth.login('admin', adminPassword)).body;
  const unseen: Tokens = (await auth.login('admin', adminPassword)).body;
  expect(await validity(auth, seen.access_token)).toBe(true);
  await database[Symbol.asyncDispose]();
  expect(await refusalsOf(auth, seen)).toEqual(allAway);
  expect(await validity(auth, seen.access_token)).toBe(true);
  expect(await validity(auth, unseen.access_token)).toBe(true);
  expect(await validity(auth, `${unseen.access_token.slice(0, -8)}AAAAAAAA`)).toBe(false);
  const health = await auth.call('GET', '/health');
  expect(health.body).toMatchObject({ status: 'unhealthy', database: 'unhealthy' });
});

/** The way to a server, which can be cut and mended. */
interface Way extends AsyncDisposable {
  readonly url: string;
  cut(): void;
  mend(): void;
}

async function openWay(to: URL): Promise<Way> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(to.port || 5432), to.hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
    }
    near.on('close', () => far.destroy()).pipe(far);
    far.on('close', () => near.destroy()).pipe(near);
    if (isCut) near.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  // The server listens on TCP, so its address is not a text.
  url.port = String((server.address() as AddressInfo).port);
  const destroyAll = () => open.forEach((socket) => socket.destroy());
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      destroyAll();
    },
    mend: () => {
      isCut = false;
    },
    [Symbol.asyncDispose]: async () => {
      destroyAll();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An empty database on the server, under a name of its own. */
async function createDatabase(): Promise<AsyncDisposable & { readonly url: URL }> {
  const name = `ennead_away_${process.pid}_${Date.now()}`;
  const administer = async (statement: string) => {
    const client = new Client(serverUrl);
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await administer(`create database ${name}`);
  const url = new URL(serverUrl ?? '');
  url.pathname = name;
  const drop = () => administer(`drop database ${name} with (force)`);
  return { url, [Symbol.asyncDispose]: drop };
}

describe.skipIf(serverUrl === undefined)(
  `H57: a PostgreSQL that goes away and comes back${serverUrl ? '' : ' (skipped: needs ENNEAD_TEST_POSTGRES_URL)'}`,
  () => {
    test('is unavailable on two replicas, which lose no session and recover by themselves', async () => {
      await using own = await createDatabase();
      await using way = await openWay(own.url);
      await using database = await openDatabase({ url: way.url });
      await using ground = await openGround(database);
      await using one = await startAuth(ground);
      await using other = await startAuth(ground);
      const kept: Tokens = (await one.login('admin', adminPassword)).body;
      const ended: Tokens = (await one.login('admin', adminPassword)).body;
      await one.call('POST', `${base}/revoke`, {
        token: ended.access_token,
        body: { token: ended.refresh_token },
      });

      way.cut();
      for (const auth of [one, other]) {
        expect(await refusalsOf(auth, kept)).toEqual(allAway);
        expect(await validity(auth, kept.access_token)).toBe(true);
      }
      expect(await validity(one, ended.access_token)).toBe(false);

      way.mend();
      for (const auth of [one, other]) {
        expect((await auth.login('admin', adminPassword)).status).toBe(200);
        expect((await auth.call('GET', '/health')).body).toMatchObject({ status: 'healthy' });
        expect(await validity(auth, kept.access_token)).toBe(true);
        await vi.waitFor(async () => {
          expect(await validity(auth, ended.access_token)).toBe(false);
        }, waiting);
      }
      const body = { refresh_token: kept.refresh_token, grant_type: 'refresh_token' };
      expect((await other.call('POST', `${base}/refresh`, { body })).status).toBe(200);
    });
  },
);

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { addressBook, type AddressBook } from './addresses.ts';
import { auth } from './auth/service.ts';
import { gateway } from './gateway/service.ts';
import { openGround, type Ground } from './ground.ts';
import { openService } from './hosted-service.ts';
import { Lifetime } from './kit/lifecycle.ts';
import { freePortBase, silentLog as log } from './kit/testing.ts';
import { mesh } from './mesh/service.ts';
import { registry } from './registry/service.ts';
import { readConfiguration } from './settings.ts';

const minuteMs = 60_000;
const hosted = [auth, mesh, gateway, registry];
const routes = [
  ['auth', '/api/v1/auth/userinfo'],
  ['mesh', '/api/v1/agents'],
  ['gateway', '/api/v1/providers'],
  ['registry', '/connections'],
] as const;

interface TestProcess extends AsyncDisposable {
  readonly ground: Ground;
  readonly addresses: AddressBook;
  readonly dataFolder: string;
}

/** A process as `npm start` has it: auth beside services that trust its tokens. */
async function openProcess(
  services: typeof hosted = hosted,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestProcess> {
  const lifetime = new Lifetime(log);
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-trust-'));
  lifetime.defer('the data folder', () => rm(dataFolder, { recursive: true }));
  const environment = {
    ENNEAD_DATA_DIR: dataFolder,
    ENNEAD_PORT_BASE: String(await freePortBase()),
    ...settings,
  };
  const config = readConfiguration(environment, services);
  const addresses = addressBook(config, services);
  const common = {
    dataFolder,
    config: config.suite,
    addresses,
    hosted: services,
    log,
    lifetime,
    onProgress: () => {},
  };
  const ground = await openGround(common);
  const none = { changed: [], refused: [] };
  const suite = { services: () => [], start: async () => none, stop: async () => none };
  for (const service of services) {
    const hosting = { ground, config, addresses, suite, log, graceMs: () => 0, announce: () => {} };
    lifetime.own(service.contract.name, await openService(service, hosting));
  }
  const close = () => lifetime[Symbol.asyncDispose]();
  return { ground, addresses, dataFolder, [Symbol.asyncDispose]: close };
}

async function logIn({ addresses, dataFolder }: TestProcess): Promise<string> {
  const answer = await fetch(`${addresses.urlOf('auth')}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await readFile(join(dataFolder, 'admin.json')),
  });
  // What the contract of auth says.
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** What each service answers to the bearer of a token. */
async function answersOf({ addresses }: TestProcess, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  const answers = routes.map(async ([name, path]) => {
    const answer = await fetch(`${addresses.urlOf(name)}${path}`, { headers });
    const isStale = (await answer.text()).includes('revocations cannot be read now');
    return [name, isStale ? [answer.status, 'stale'] : answer.status];
  });
  return Object.fromEntries(await Promise.all(answers));
}

afterEach(() => vi.useRealTimers());

test('every service beside auth refuses all tokens once revocations were not read for five minutes', async () => {
  await using one = await openProcess();
  const token = await logIn(one);
  // Auth reads its users in the database, which is away.
  const trusted = { auth: 503, mesh: 200, gateway: 200, registry: 200 };
  const stale = [503, 'stale'];
  await one.ground.database[Symbol.asyncDispose]();
  vi.useFakeTimers({ now: Date.now() + 4 * minuteMs, toFake: ['Date'] });
  expect(await answersOf(one, token)).toEqual(trusted);
  vi.setSystemTime(Date.now() + 2 * minuteMs);
  expect(await answersOf(one, token)).toEqual({
    auth: stale,
    mesh: stale,
    gateway: stale,
    registry: stale,
  });
});

test('auth believes its own tokens also where it does not reach itself at its address', async () => {
  const base = await freePortBase();
  const settings = {
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_AUTH_URL: 'http://127.0.0.1:9',
  };
  await using one = await openProcess([auth], settings);
  const here = {
    ...one,
    addresses: { ...one.addresses, urlOf: () => `http://127.0.0.1:${base + 2}` },
  };
  const headers = { authorization: `Bearer ${await logIn(here)}` };
  const answer = await fetch(`${here.addresses.urlOf()}/api/v1/auth/userinfo`, { headers });
  expect(answer.status).toBe(200);
});

import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findNatsServer, startNatsServer, type NatsServer } from '../../src/kit/bus/testing.ts';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';
import { completeWithOpenAi, logInAsPrinted } from './main-job.ts';

const postgresUrl = process.env['ENNEAD_TEST_POSTGRES_URL'];
const natsProgram = findNatsServer(process.env['ENNEAD_TEST_NATS_SERVER']);
const isAvailable = postgresUrl !== undefined && natsProgram !== undefined;
const title = isAvailable ? '' : ' (skipped: needs ENNEAD_TEST_POSTGRES_URL and nats-server)';

const databaseName = `ennead_${process.pid}_${Date.now()}`;
const processes = new Map<string, Ennead>();
let nats: NatsServer;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let base: number;

const urlOf = (name: string) => serviceUrl(base, name);

async function administer(text: string): Promise<void> {
  const client = new Client(postgresUrl);
  await client.connect();
  await client.query(text);
  await client.end();
}

function start(name: string): Promise<void> {
  const url = new URL(postgresUrl ?? '');
  url.pathname = databaseName;
  const ennead = startEnnead(['run', name], {
    ENNEAD_DATA_DIR: join(folder.path, name),
    ENNEAD_SERVICE_KEYS_DIR: join(folder.path, 'service-keys'),
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_DATABASE_URL: url.href,
    ENNEAD_NATS_URL: nats.url,
  });
  processes.set(name, ennead);
  return ennead.ready;
}

describe.skipIf(!isAvailable)(`processes on one PostgreSQL and one NATS${title}`, () => {
  beforeAll(async () => {
    [folder, base, nats] = await Promise.all([
      temporaryFolder(),
      freePortBase(),
      startNatsServer(natsProgram ?? ''),
    ]);
    await administer(`create database ${databaseName}`);
    await start('auth');
    await Promise.all(['gateway', 'models'].map(start));
  });

  afterAll(async () => {
    await Promise.all([...processes.values()].map((ennead) => ennead.stop('SIGKILL')));
    await nats[Symbol.asyncDispose]();
    await administer(`drop database ${databaseName} with (force)`);
    await folder.remove();
  });

  test("OpenAI's client gets a completion and a stream", async () => {
    const token = logInAsPrinted(processes.get('auth')?.output() ?? '');
    await completeWithOpenAi(urlOf('gateway'), token);
  });

  test('a revoked token is refused by the other processes, told by the bus', async () => {
    const token = logInAsPrinted(processes.get('auth')?.output() ?? '');
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const call = async () => (await fetch(`${urlOf('gateway')}/v1/models`, { headers })).status;
    expect(await call()).toBe(200);
    const body = JSON.stringify({ token });
    await fetch(`${urlOf('auth')}/api/v1/auth/revoke`, { method: 'POST', body, headers });
    await expect.poll(call, { interval: 20 }).toBe(401);
  });

  test('SIGTERM ends every process with 0', async () => {
    const ends = [...processes.values()].map((ennead) => ennead.stop());
    expect((await Promise.all(ends)).map(({ code }) => code)).toEqual([0, 0, 0]);
  });
});

import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const path = '/api/v1/auth';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;
let url: string;
let ennead: Ennead;

beforeAll(async () => {
  folder = await temporaryFolder();
  const base = await freePortBase();
  url = serviceUrl(base, 'auth');
  variables = { ENNEAD_DATA_DIR: join(folder.path, 'data'), ENNEAD_PORT_BASE: String(base) };
  ennead = await start();
});

afterAll(async () => {
  await ennead.stop();
  await folder.remove();
});

async function start(): Promise<Ennead> {
  const started = startEnnead(['run', 'auth'], variables);
  await started.ready;
  return started;
}

async function post(route: string, body: unknown) {
  const answer = await fetch(`${url}${path}/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const tokens = (await answer.json()) as { access_token: string; refresh_token: string };
  return { status: answer.status, ...tokens };
}

function refresh(token: string) {
  return post('refresh', { refresh_token: token, grant_type: 'refresh_token' });
}

/** Sends a refresh and kills the service when the moment comes; nobody reads the answer. */
async function killDuringRefresh(token: string, moment: 'sent' | 'answered'): Promise<void> {
  const call = request(`${url}${path}/refresh`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  call.on('error', () => {});
  const reached = new Promise<void>((resolve) => {
    call.once(moment === 'sent' ? 'finish' : 'response', () => resolve());
  });
  call.end(JSON.stringify({ refresh_token: token, grant_type: 'refresh_token' }));
  await reached;
  await ennead.stop('SIGKILL');
}

describe.each(['answered', 'sent'] as const)('kill -9 when a refresh is %s', (moment) => {
  test('costs nobody the session: the same token gets its successor after the restart', async () => {
    const login = await post('login', await readFile(join(folder.path, 'data/admin.json'), 'utf8'));
    await killDuringRefresh(login.refresh_token, moment);
    ennead = await start();
    const repeated = await refresh(login.refresh_token);
    expect(repeated.status).toBe(200);
    expect((await refresh(repeated.refresh_token)).status).toBe(200);
    expect(await post('validate', { token: repeated.access_token })).toMatchObject({ valid: true });
  });
});

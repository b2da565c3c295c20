import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { startEnnead, temporaryFolder, type Ennead, serviceUrl } from '../ennead.ts';
import { serviceNames } from '../../src/service-names.ts';
import {
  completeWithOpenAi,
  completionSpans,
  isCompletionTrace,
  logInAsPrinted,
} from './main-job.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let base: number;
let token: string;
const processes = new Map<string, Ennead>();

const urlOf = (name: string) => serviceUrl(base, name);

function start(name: string): Promise<void> {
  const ennead = startEnnead(['run', name], {
    ENNEAD_DATA_DIR: join(folder.path, name),
    ENNEAD_SERVICE_KEYS_DIR: join(folder.path, 'service-keys'),
    ENNEAD_PORT_BASE: String(base),
  });
  processes.set(name, ennead);
  return ennead.ready;
}

beforeAll(async () => {
  [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
  await start('auth');
  await Promise.all(serviceNames.filter((name) => name !== 'auth').map(start));
}, 120_000);

afterAll(async () => {
  await Promise.all([...processes.values()].map((ennead) => ennead.stop('SIGKILL')));
  await folder.remove();
});

describe('a process for each service, each with a data folder of its own', () => {
  test("OpenAI's client gets a completion and a stream, and the spans hang together", async () => {
    token = logInAsPrinted(processes.get('auth')?.output() ?? '');
    await completeWithOpenAi(urlOf('gateway'), token);
    const spans = () => completionSpans(urlOf('tracer'), token);
    await expect.poll(async () => isCompletionTrace(await spans())).toBe(true);
  });

  test('every service answers its health', async () => {
    for (const name of serviceNames) {
      const health = async () => (await fetch(`${urlOf(name)}/health`)).json();
      await expect.poll(health).toMatchObject({ status: 'healthy' });
    }
  });

  test('a token that auth revoked is refused by another process without a shared bus', async () => {
    const doomed = logInAsPrinted(processes.get('auth')?.output() ?? '');
    const call = async () => {
      const headers = { authorization: `Bearer ${doomed}` };
      return (await fetch(`${urlOf('gateway')}/v1/models`, { headers })).status;
    };
    expect(await call()).toBe(200);
    await fetch(`${urlOf('auth')}/api/v1/auth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ token: doomed }),
    });
    await expect.poll(call, { interval: 50 }).toBe(401);
  });

  test('the gateway says so when models is away, and recovers by itself', async () => {
    await processes.get('models')?.stop('SIGKILL');
    const ask = () =>
      fetch(`${urlOf('gateway')}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ max_tokens: 4, messages: [{ role: 'user', content: 'Hello.' }] }),
      });
    const refusal = await ask();
    expect(refusal.status).toBe(503);
    expect(await refusal.json()).toMatchObject({ error: { type: 'provider_error' } });
    const health = async () => (await fetch(`${urlOf('gateway')}/api/health`)).json();
    await expect
      .poll(health)
      .toMatchObject({ status: 'degraded', providers: { local: { status: 'degraded' } } });
    await start('models');
    expect((await ask()).status).toBe(200);
  });

  test('verified tokens stay good while auth is away', async () => {
    await processes.get('auth')?.stop();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${urlOf('gateway')}/v1/models`, { headers })).status).toBe(200);
    await start('auth');
  });
});

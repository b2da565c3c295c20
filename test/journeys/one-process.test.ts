import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { runEnnead, startEnnead, temporaryFolder, type Ennead, serviceUrl } from '../ennead.ts';
import { serviceNames } from '../../src/service-names.ts';
import { services as allServices } from '../../src/services.ts';
import { expectAnonymousRefused, expectRubbishRefused } from './refusals.ts';
import {
  completeWithOpenAi,
  completionSpans,
  isCompletionTrace,
  logInAsPrinted,
} from './main-job.ts';

const contracts = allServices.map(({ contract }) => [contract.name, contract] as const);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let base: number;
let variables: Record<string, string>;
let ennead: Ennead;
let token: string;

const urlOf = (name: string) => serviceUrl(base, name);

beforeAll(async () => {
  [folder, base] = await Promise.all([temporaryFolder(), freePortBase()]);
  variables = {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
  };
  ennead = startEnnead(['up'], variables);
  await ennead.ready;
});

afterAll(async () => {
  await ennead.stop('SIGKILL');
  await folder.remove();
});

describe('all nine services in one process', () => {
  test('the start prints addresses, first credentials and a curl line that logs in', () => {
    for (const name of serviceNames) {
      expect(ennead.output()).toContain(urlOf(name));
    }
    expect(ennead.output()).toMatch(/administrator admin, password \S+/);
    token = logInAsPrinted(ennead.output());
    expect(token.split('.')).toHaveLength(3);
  });

  test('every service answers its health, an OpenAPI 3.1 document and a page for people', async () => {
    for (const name of serviceNames) {
      const health = await (await fetch(`${urlOf(name)}/health`)).json();
      expect(health).toMatchObject({ status: 'healthy', uptime: expect.any(Number) });
      const document = await (await fetch(`${urlOf(name)}/openapi.json`)).json();
      expect(document).toMatchObject({ openapi: '3.1.0', paths: { '/health': {} } });
      const page = await fetch(`${urlOf(name)}/docs`);
      expect(page.headers.get('content-type')).toContain('text/html');
    }
  });

  test("the console's address serves its pages, and tells every service's address and health", async () => {
    const address = `http://127.0.0.1:${base}`;
    const page = await (await fetch(address)).text();
    const [script = ''] = /\/assets\/[\w-]+\.js/.exec(page) ?? [];
    expect((await fetch(address + script)).headers.get('content-type')).toContain('javascript');
    const { services } = await (await fetch(`${address}/status.json`)).json();
    const found = services.map((one: Record<string, unknown>) => [one['url'], one['status']]);
    expect(found).toEqual(serviceNames.map((name) => [urlOf(name), 'healthy']));
  });

  test("OpenAI's client gets a completion and a stream, and the spans hang together", async () => {
    await completeWithOpenAi(urlOf('gateway'), token);
    const spans = () => completionSpans(urlOf('tracer'), token);
    await expect.poll(async () => isCompletionTrace(await spans())).toBe(true);
  });

  test.each(contracts)(
    '%s refuses anonymous callers on every route that needs a token',
    async (name, contract) => {
      await expectAnonymousRefused({ contract, url: urlOf(name), token });
    },
  );

  test.each(contracts)('%s refuses rubbish in its own envelope', async (name, contract) => {
    await expectRubbishRefused({ contract, url: urlOf(name), token });
  });

  test("the admin's password is readable by the owner only", async () => {
    const { mode } = await stat(join(folder.path, 'data', 'admin.json'));
    expect(mode & 0o077).toBe(0);
  });

  test('status answers all of them as JSON', async () => {
    const { code, output } = await runEnnead(['status', '--json'], {
      ENNEAD_PORT_BASE: String(base),
    });
    const { services } = JSON.parse(output) as { services: { name: string; status: string }[] };
    expect(services.map(({ name }) => name)).toEqual(serviceNames);
    expect(services.every(({ status }) => status === 'healthy')).toBe(true);
    expect(code).toBe(0);
  });

  test('a revoked token is refused by the other services', async () => {
    const doomed = logInAsPrinted(ennead.output());
    const call = () =>
      fetch(`${urlOf('gateway')}/v1/models`, { headers: { authorization: `Bearer ${doomed}` } });
    expect((await call()).status).toBe(200);
    await fetch(`${urlOf('auth')}/api/v1/auth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ token: doomed, token_type_hint: 'access_token' }),
    });
    expect((await call()).status).toBe(401);
  });

  test('SIGTERM ends it with 0 while a stream is open, and the stream is cut honestly', async () => {
    const answer = await fetch(`${urlOf('gateway')}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        stream: true,
        max_tokens: 2_000,
        messages: [{ role: 'user', content: 'Go on.' }],
      }),
    });
    const reading = answer.text().catch(() => 'cut');
    const { code } = await ennead.stop('SIGTERM');
    expect(code).toBe(0);
    const text = await reading;
    const isWhole =
      text.includes('"finish_reason":"length"') || text.includes('"finish_reason":"stop"');
    expect(text.includes('[DONE]')).toBe(isWhole);
  });

  test('after kill -9 it starts again, knows its tokens and does not print the password again', async () => {
    ennead = startEnnead(['up'], variables);
    await ennead.ready;
    await ennead.stop('SIGKILL');
    ennead = startEnnead(['up'], variables);
    await ennead.ready;
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${urlOf('gateway')}/v1/models`, { headers })).status).toBe(200);
    const { password } = JSON.parse(
      await readFile(join(folder.path, 'data', 'admin.json'), 'utf8'),
    ) as { password: string };
    expect(ennead.output()).not.toContain(password);
  });
});

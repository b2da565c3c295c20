import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { askEnnead, serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;
let suite: Ennead;
let tracerUrl: string;
let authorization: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  const base = await freePortBase();
  tracerUrl = serviceUrl(base, 'tracer');
  variables = {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    TRACER_QUIET_MS: '100',
  };
  suite = startEnnead(['run', 'auth', 'tracer'], variables);
  await suite.ready;
  const login = await fetch(`${serviceUrl(base, 'auth')}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await readFile(join(folder.path, 'data', 'admin.json')),
  });
  const { access_token: token } = (await login.json()) as { access_token: string };
  authorization = `Bearer ${token}`;
});
afterAll(async () => {
  await suite.stop();
  await folder.remove();
});

/** Runs `ennead traces …` with this suite's settings. */
function ask(line: string, more: Record<string, string> = {}) {
  return askEnnead(['traces', ...line.split(' ')], { variables: { ...variables, ...more } });
}

async function refusalOf(line: string, more?: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await ask(line, more);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
}

const startUs = Date.now() * 1000 - 60_000_000;

/** A trace of two services, the second of which failed, as a Zipkin client sends it. */
async function send(traceId: string, name: string, timestamp: number): Promise<void> {
  const root = { traceId, id: '1', name, kind: 'SERVER', timestamp, duration: 90_000 };
  const spans = [
    { ...root, localEndpoint: { serviceName: 'shop' } },
    {
      ...root,
      id: '2',
      parentId: '1',
      name: 'charge',
      timestamp: timestamp + 10_000,
      duration: 50_000,
      localEndpoint: { serviceName: 'bank' },
      tags: { error: 'no funds' },
    },
  ];
  const answer = await fetch(`${tracerUrl}/api/v2/spans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(spans),
  });
  expect(answer.status).toBe(202);
}

const traceId = 'a'.repeat(32);

test('what cannot be done is refused with a sentence', async () => {
  expect(await refusalOf('list --status lost')).toContain(
    'It must be one of success, error, timeout',
  );
  expect(await refusalOf('list --since yesterday')).toContain('It must be a day');
  expect(await refusalOf(`show ${'b'.repeat(32)}`)).toContain('no trace bbbb');
  expect(await refusalOf('show 17')).toContain('traceId');
  const elsewhere = { ENNEAD_TRACER_URL: 'http://127.0.0.1:9' };
  expect(await refusalOf('list', elsewhere)).toContain('cannot be reached at http://127.0.0.1:9');
  expect(await refusalOf('tail', elsewhere)).toContain('cannot be reached at http://127.0.0.1:9');
});

test('traces are followed, listed and shown', async () => {
  const tail = startEnnead(['traces', 'tail', '--agent', 'shop', '--json'], variables);
  tail.ready.catch(() => {});
  // Who listens late misses what came before, so it is sent until it is heard.
  await expect
    .poll(async () => {
      await send(crypto.randomUUID().replaceAll('-', ''), 'early', startUs - 1_000_000);
      return tail.output();
    })
    .toContain('trace-completed');
  await send(traceId, 'buy', startUs);
  await expect.poll(() => tail.output()).toContain(traceId);
  tail.process.kill('SIGINT');
  await tail.exit;
  const told =
    tail
      .output()
      .split('\n')
      .find((line) => line.includes(traceId)) ?? '';
  expect(JSON.parse(told)).toMatchObject({
    type: 'trace-completed',
    data: { name: 'buy', status: 'error', spans: 2, duration: 90 },
  });

  const { stdout: table } = await ask('list --agent bank --status error --min-duration 90');
  expect(table).toMatch(/^TRACE +STARTED +DURATION +STATUS +SPANS +AGENTS +NAME\n/);
  expect(table).toMatch(new RegExp(`${traceId} .* 90 ms +error +2 +shop, bank +buy\n`));
  expect((await ask('list --status success --service shop')).stdout).not.toContain('shop');
  const first = await ask('list --service shop --limit 1 --json');
  expect(JSON.parse(first.stdout)).toMatchObject({ traces: [{ service: 'shop' }], limit: 1 });

  const { stdout: shown } = await ask(`show ${traceId}`);
  expect(shown).toMatch(/error +\S+: no funds \(span 0000000000000002\)/);
  const lines = shown.trimEnd().split('\n').slice(-2);
  expect(lines[0]).toMatch(/^shop buy +█+ +90\.0 ms \*$/);
  expect(lines[1]).toMatch(/^bank {3}charge +█+ +50\.0 ms \*! no funds$/);
  const { stdout: json } = await ask(`show ${traceId} --json`);
  expect(JSON.parse(json)).toMatchObject({ traceId, totalSpans: 2, status: 'error' });
});

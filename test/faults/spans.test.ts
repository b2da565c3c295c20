import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportOf } from '../../src/tracer/testing.ts';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const senders = 4;
const acknowledgedMin = 60;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;
let url: string;
let loginUrl: string;
let ennead: Ennead;

beforeAll(async () => {
  folder = await temporaryFolder();
  const base = await freePortBase();
  url = serviceUrl(base, 'tracer');
  loginUrl = `${serviceUrl(base, 'auth')}/api/v1/auth/login`;
  variables = { ENNEAD_DATA_DIR: join(folder.path, 'data'), ENNEAD_PORT_BASE: String(base) };
  ennead = await start();
});

afterAll(async () => {
  await ennead.stop();
  await folder.remove();
});

async function start(): Promise<Ennead> {
  const started = startEnnead(['run', 'auth', 'tracer'], variables);
  await started.ready;
  return started;
}

async function logIn(): Promise<string> {
  const answer = await fetch(loginUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await readFile(join(folder.path, 'data', 'admin.json')),
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return token;
}

function idOf(number: number): string {
  return (number + 1).toString(16).padStart(32, 'f');
}

/** Sends one trace after another until the service dies; keeps what was acknowledged. */
async function sendUntilDead(sender: number, token: string, stored: string[]): Promise<void> {
  for (let count = 0; ; count += 1) {
    const traceId = idOf(count * senders + sender);
    const root = { traceId, spanId: '1'.repeat(16), from: 0, to: 5, name: 'acknowledged' };
    const child = { traceId, spanId: '2'.repeat(16), parentSpanId: root.spanId, from: 1, to: 2 };
    const answer = await fetch(`${url}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-protobuf' },
      body: Buffer.from(exportOf('shop', [root, child])),
    }).catch(() => undefined);
    if (!answer) return;
    if (answer.status === 200) stored.push(traceId);
  }
}

test('spans that were acknowledged outlive kill -9, and their traces become complete once', async () => {
  const token = await logIn();
  const stored: string[] = [];
  const sending = Array.from({ length: senders }, (_, sender) =>
    sendUntilDead(sender, token, stored),
  );
  await expect.poll(() => stored.length, { timeout: 30_000 }).toBeGreaterThan(acknowledgedMin);
  await ennead.stop('SIGKILL');
  await Promise.all(sending);

  ennead = await start();
  const headers = { authorization: `Bearer ${await logIn()}` };
  const read = async (path: string) => (await fetch(`${url}/api/v1${path}`, { headers })).json();
  const isAllComplete = async () => {
    const list = (await read('/traces?name=acknowledged&limit=1000')) as {
      total: number;
      traces: { traceId: string; spans: number; isComplete: boolean }[];
    };
    const whole = list.traces.filter(({ spans, isComplete }) => isComplete && spans === 2);
    return list.total === whole.length && whole;
  };
  await expect.poll(isAllComplete, { timeout: 30_000 }).not.toBe(false);
  const complete = new Set(((await isAllComplete()) || []).map(({ traceId }) => traceId));
  expect(stored.filter((traceId) => !complete.has(traceId))).toEqual([]);
  const { aggregations } = (await read('/metrics/aggregate?timeRange=1h')) as {
    aggregations: { key: string; metrics: { totalRequests: number } }[];
  };
  const counted = aggregations.find(({ key }) => key === 'acknowledged');
  expect(counted?.metrics.totalRequests).toBe(complete.size);
}, 120_000);

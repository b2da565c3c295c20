import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lifetime } from '../kit/lifecycle.ts';
import { freePortBase, silentLog } from '../kit/testing.ts';
import { services } from '../services.ts';
import { Suite } from '../suite.ts';
import { templates } from './definitions/templates/templates.ts';
import { caller, type Caller } from './testing.ts';

const password = 'a password for these tests';
const lifetime = new Lifetime(silentLog);
let call: Caller;
let pageUrl: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-templates-'));
  lifetime.defer('the folder', () => rm(folder, { recursive: true }));
  const page = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<h1>Bees</h1><p>Bees make honey.</p>');
  });
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  lifetime.defer('the page', () => void page.close());
  pageUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`;
  const environment = {
    ENNEAD_DATA_DIR: folder,
    ENNEAD_PORT_BASE: String(await freePortBase()),
    ENNEAD_ADMIN_PASSWORD: password,
    ENNEAD_LOG_LEVEL: 'silent',
  };
  const suite = await Suite.open({ environment, hosted: services, hasConsole: false });
  lifetime.own('the suite', suite);
  const login = await caller(suite.addresses.urlOf('auth'))('POST', '/api/v1/auth/login', {
    body: { username: 'admin', password, client_id: 'test', grant_type: 'password' },
  });
  call = caller(suite.addresses.urlOf('workflow'), login.body.access_token);
  const collection = { name: 'manuals', description: 'Manuals' };
  await call('POST', '/api/v1/collections', { body: collection });
  const documents = [{ id: 'reset', content: 'To reset it, hold the button for ten seconds.' }];
  const stored = await call('POST', '/api/v1/collections/manuals/documents', {
    body: { documents },
  });
  expect({ status: stored.status, body: stored.body }).toMatchObject({ status: 200 });
}, 120_000);

afterAll(() => lifetime[Symbol.asyncDispose]());

/** The examples of a template's inputs, but for what is not there in this test. */
function inputsOf(id: string): Record<string, unknown> {
  const { inputs } = templates.find((one) => one.id === id) ?? { inputs: [] };
  const examples = Object.fromEntries(inputs.map(({ name, example }) => [name, example]));
  return id === 'tpl_fetch_and_summarize' ? { url: pageUrl } : examples;
}

async function finish(executionId: string) {
  for (;;) {
    const { body } = await call('GET', `/api/v1/executions/${executionId}?wait=1`);
    const isWaiting = body.nodes.some((node: { status: string }) => node.status === 'waiting');
    if (body.status !== 'running') return body;
    if (isWaiting) await call('POST', approvalOf(body), { body: { approved: true } });
  }
}

function approvalOf({ executionId }: { readonly executionId: string }): string {
  return `/api/v1/executions/${executionId}/approvals/review`;
}

test.each(templates.map(({ id, name }) => [name, id]))(
  '“%s” runs with what comes with the product',
  async (_name, id) => {
    const { status, body } = await call('POST', `/api/v1/workflows/${id}/execute`, {
      body: { inputs: inputsOf(id) },
    });
    expect({ status, body }).toMatchObject({ status: 202 });
    const end = await finish(body.executionId);
    expect({ status: end.status, error: end.error }).toEqual({
      status: 'completed',
      error: undefined,
    });
    expect(Object.keys(end.result).length).toBeGreaterThan(0);
  },
  120_000,
);

test('what was run is counted, and measured for the catalog', async () => {
  const { body } = await call('GET', '/api/v1/workflows/templates');
  for (const { usageCount } of body.templates) expect(usageCount).toBe(1);
  const catalog = await call('GET', '/api/v1/workflows/catalog?category=text');
  for (const { estimatedDuration } of catalog.body.workflows) {
    expect(estimatedDuration).toBeGreaterThan(0);
  }
});

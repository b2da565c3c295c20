import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { createTestServer, silentLog } from '../../kit/testing.ts';
import { gatewayEnvelope } from '../envelope.ts';
import type { Standing } from '../measure/standing.ts';
import type { Provider } from '../providers/provider.ts';
import type { Providers } from '../providers/providers.ts';
import { openProviderGround, type ProviderGround } from '../providers/testing.ts';
import { RemoteLimits } from '../providers/remote-limits.ts';
import { CandidateRouter } from '../routing/router.ts';
import { fakeModel, fakeProvider, fakeRequest, fakeStandings } from '../routing/testing.ts';
import { providerRoutes } from '../schemas/providers.ts';
import { routeRoutes } from '../schemas/route.ts';
import { providerHandlers } from './providers.ts';
import { routeHandlers } from './route.ts';

const contract = {
  name: 'gateway',
  title: 'Providers',
  version: '1.0.0',
  description: 'The routes of providers alone.',
  error: gatewayEnvelope.schema,
  routes: { ...providerRoutes, ...routeRoutes },
} as const satisfies Contract;

const measured: Record<string, Partial<Standing>> = {
  'busy/m-1': { requestsPerMinute: 30, latencyMs: 100, inFlight: 1 },
  'busy/m-2': { requestsPerMinute: 10, latencyMs: 500 },
  'sick/m-1': { circuit: 'open', closedBecause: 'circuit', waitMs: 5000, availability: 0.2 },
  'sick/m-2': { circuit: 'open', closedBecause: 'circuit', waitMs: 5000 },
};
const accepting = { unsupported: () => undefined };
const dialects = { openai: accepting, anthropic: accepting, gemini: accepting, ollama: accepting };

const limits = new RemoteLimits();

let ground: ProviderGround;
let providers: Providers;
let server: Awaited<ReturnType<typeof createTestServer>>;
let tokens: { readonly admin: string; readonly user: string };

beforeAll(async () => {
  ground = await openProviderGround();
  providers = await ground.open();
  server = await createTestServer(contract, { envelope: gatewayEnvelope });
  const { http, issuer } = server;
  const standings = fakeStandings(measured);
  const router = new CandidateRouter({ providers, standings, dialects, random: () => 0 });
  const remoteLimit = (provider: Provider) => limits.of(provider);
  const sources = { standings, remoteLimit };
  http.serve(contract, {
    ...providerHandlers({ providers, sources, log: silentLog }),
    ...routeHandlers({
      router,
      readQuestion: ({ model }) => ({
        request: fakeRequest('tl;dr', { model: String(model) }),
        strategy: 'cost',
        fallbacks: [],
      }),
    }),
  });
  tokens = {
    admin: await issuer.sign({ permissions: ['gateway:configure'] }),
    user: await issuer.sign(),
  };
});

afterAll(async () => {
  await server.http.close(0);
  await ground[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await ground.clear();
  await providers.refresh();
});

const models = [
  {
    name: 'm-1',
    capabilities: ['chat', 'summarization'],
    inputCostPerMToken: 1,
    outputCostPerMToken: 5,
  },
  { name: 'm-2', capabilities: ['chat'], inputCostPerMToken: 0.1, outputCostPerMToken: 0.1 },
];
const body = { dialect: 'openai', baseUrl: 'http://127.0.0.1:9/v1', models };

async function call(
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  url: string,
  options: CallOptions = {},
) {
  const { token = tokens.admin, payload } = options;
  const answer = await server.http.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, text: answer.body, body: answer.json() };
}

interface CallOptions {
  readonly token?: string;
  readonly payload?: object;
}

const p = '/api/v1/providers/p';

test('who may not configure the gateway sees the list, and neither settings nor changes', async () => {
  const { user: token } = tokens;
  expect((await call('PUT', p, { token, payload: body })).status).toBe(403);
  expect((await call('GET', p, { token })).status).toBe(403);
  expect((await call('DELETE', p, { token })).status).toBe(403);
  expect(await call('GET', '/api/v1/providers', { token })).toMatchObject({
    status: 200,
    body: { providers: [] },
  });
});

test.each([
  [{ ...body, colour: 'red' }, 'colour'],
  [{ ...body, models: [{ ...models[0], speed: 1 }] }, 'models.0.speed'],
  [{ ...body, apiKeys: 'sk' }, 'apiKeys'],
  [{ models: [] }, 'dialect'],
  [{ ...body, models: [{ name: 'auto-route' }] }, 'models.0.name'],
])('a faulty body is refused with the field: %#', async (payload, param) => {
  const answer = await call('PUT', p, { payload });
  expect(answer).toMatchObject({ status: 400, body: { error: { param } } });
});

test("what is reserved, unknown or somebody else's is refused with the status for it", async () => {
  expect((await call('PUT', '/api/v1/providers/local', { payload: body })).status).toBe(409);
  expect((await call('PUT', '/api/v1/providers/No', { payload: body })).status).toBe(400);
  expect((await call('GET', p)).status).toBe(404);
  expect((await call('DELETE', p)).status).toBe(404);
});

test('a put provider is created, then replaced, and deleted once', async () => {
  const headers = { 'x-secret': 'shh' };
  const created = await call('PUT', p, { payload: { ...body, apiKey: 'sk-top', headers } });
  expect(created).toMatchObject({
    status: 201,
    body: {
      name: 'p',
      origin: 'api',
      hasApiKey: true,
      keyCount: 1,
      headers: { 'x-secret': '***' },
    },
  });
  const replaced = await call('PUT', p, {
    payload: { ...body, weight: 2, rateLimit: { requestsPerMinute: 9 } },
  });
  expect(replaced).toMatchObject({ status: 200, body: { keyCount: 1, weight: 2, headers: {} } });
  const read = await call('GET', p);
  expect(read.body).toEqual(replaced.body);
  const listed = await call('GET', '/api/v1/providers');
  for (const { text } of [created, replaced, read, listed]) expect(text).not.toMatch(/sk-top|shh/);
  expect(await call('DELETE', p)).toMatchObject({
    status: 200,
    body: { name: 'p', deleted: true },
  });
  expect((await call('DELETE', p)).status).toBe(404);
});

test('of several who delete a provider one has done it, and for the others there is none', async () => {
  await call('PUT', p, { payload: body });
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('DELETE', p)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
});

test('the list says how providers do, of the local one where it is', async () => {
  const payload = { ...body, rateLimit: { requestsPerMinute: 100 } };
  await call('PUT', '/api/v1/providers/busy', { payload });
  await call('PUT', '/api/v1/providers/sick', { payload: body });
  const model = fakeModel('tiny', { sizeBytes: 4_683_075_271, prices: { input: 0, output: 0 } });
  providers.setLocal(fakeProvider('local', [model], { origin: 'local' }));
  const [local, busy, sick] = (await call('GET', '/api/v1/providers')).body.providers;
  expect(local).toMatchObject({
    name: 'local',
    status: 'healthy',
    endpoint: 'http://local.test/v1',
  });
  expect(local.models[0]).toMatchObject({ name: 'tiny', size: '4.7 GB', costPerMToken: 0 });
  expect(local).not.toHaveProperty('rateLimit');
  expect(busy).toMatchObject({
    status: 'healthy',
    requestsPerMinute: 40,
    averageLatency: 200,
    rateLimit: { remaining: 60, reset: expect.stringMatching(/^\d{4}-.*Z$/) },
  });
  expect(busy).not.toHaveProperty('endpoint');
  expect(busy.models[0]).toMatchObject({ costPerMToken: 2, inputCostPerMToken: 1 });
  expect(sick.status).toBe('degraded');
  const provider = providers.find('busy');
  if (!provider) throw new Error('busy is gone');
  const noted = { 'x-ratelimit-remaining-requests': '7', 'x-ratelimit-reset-requests': '20s' };
  limits.note(provider, noted);
  const [, told] = (await call('GET', '/api/v1/providers')).body.providers;
  expect(told.rateLimit.remaining).toBe(7);
});

test('a decision names who would be asked, who not, and why', async () => {
  await call('PUT', '/api/v1/providers/busy', { payload: body });
  await call('PUT', '/api/v1/providers/sick', { payload: body });
  const { body: decision } = await call('POST', '/api/v1/route', {
    token: tokens.user,
    payload: { model: 'm-1' },
  });
  expect(decision).toMatchObject({
    model: 'm-1',
    provider: 'busy',
    strategy: 'cost',
    taskType: 'summarization',
    taskRule: 'the request asks for a summary',
    candidates: [{ provider: 'busy', model: 'm-1', rank: 1, quality: 0.5 }],
    excluded: [{ provider: 'sick', model: 'm-1', rule: 'circuit' }],
  });
  expect(decision.candidates[0].reasons[0]).toMatch(/expected to cost/);
  expect((await call('POST', '/api/v1/route', { payload: { model: 'gone' } })).body).toMatchObject({
    error: { type: 'model_not_found', param: 'model', code: 'model_not_found' },
  });
});

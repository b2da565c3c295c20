import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '../../kit/log.ts';
import { fakeModel, fakeProvider } from '../routing/testing.ts';
import { ProviderIndex } from './provider-index.ts';
import { targetId, type Provider } from './provider.ts';
import type { Providers } from './providers.ts';
import {
  openProviderGround,
  startLister,
  type Lister,
  type ProviderGround,
  type ReplicaOptions,
} from './testing.ts';

let ground: ProviderGround;
let lister: Lister;
let opened: Providers[] = [];

beforeAll(async () => {
  ground = await openProviderGround();
  lister = await startLister();
});

afterAll(async () => {
  await ground[Symbol.asyncDispose]();
  await lister[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await Promise.all(opened.map((providers) => providers[Symbol.asyncDispose]()));
  opened = [];
  lister.answers.clear();
  lister.asked.length = 0;
  await ground.clear();
});

async function open(options?: ReplicaOptions): Promise<Providers> {
  const providers = await ground.open(options);
  opened.push(providers);
  return providers;
}

const model = {
  name: 'm-1',
  capabilities: ['chat'],
  inputCostPerMToken: 1,
  outputCostPerMToken: 2,
};
const body = { dialect: 'openai', baseUrl: 'http://127.0.0.1:9/v1', models: [model] };

test.each([
  ['a field that is not known', { ...body, apikey: 'x' }, 'apikey'],
  [
    'a field of a model that is not known',
    { ...body, models: [{ ...model, price: 1 }] },
    'models.0.price',
  ],
  [
    'a field of the limit that is not known',
    { ...body, rateLimit: { requestsPerMinute: 1, rpm: 2 } },
    'rateLimit.rpm',
  ],
  ['a timeout that is not known', { ...body, timeouts: { first: 2 } }, 'timeouts.first'],
  ['a dialect that is not known', { ...body, dialect: 'cobol' }, 'dialect'],
  ['no address', { dialect: 'openai', models: [] }, 'baseUrl'],
  ['another scheme', { ...body, baseUrl: 'file:///etc/passwd' }, 'baseUrl'],
  ['credentials in the address', { ...body, baseUrl: 'https://u:p@example.com/v1' }, 'baseUrl'],
  ['a query in the address', { ...body, baseUrl: 'https://example.com/v1?key=1' }, 'baseUrl'],
  [
    'a negative price',
    { ...body, models: [{ ...model, inputCostPerMToken: -1 }] },
    'models.0.inputCostPerMToken',
  ],
  ['a quality above one', { ...body, models: [{ ...model, quality: 1.5 }] }, 'models.0.quality'],
  ['a model twice', { ...body, models: [model, model] }, 'models.1.name'],
  ['a weight of nothing', { ...body, weight: 0 }, 'weight'],
  ['a key with a line end', { ...body, apiKey: 'a\r\nx: y' }, 'apiKey'],
  ['a header that frames the message', { ...body, headers: { Host: 'x' } }, 'headers.Host'],
  ['a header with a line end', { ...body, headers: { 'x-a': 'a\r\nb: c' } }, 'headers.x-a'],
  ['a hidden header that is not stored', { ...body, headers: { 'x-a': '***' } }, 'headers.x-a'],
  ['one key and several', { ...body, apiKey: 'a', apiKeys: ['b'] }, 'apiKeys'],
])('settings with %s are refused by the name of the field', async (_title, settings, param) => {
  const providers = await open();
  await expect(providers.put('p', settings)).rejects.toMatchObject({
    code: 'invalid',
    detail: { param },
  });
  expect(providers.find('p')).toBeUndefined();
});

test('an address inside the network is refused', async () => {
  const providers = await open();
  const settings = { ...body, baseUrl: 'http://169.254.169.254/v1' };
  await expect(providers.put('p', settings)).rejects.toMatchObject({ reason: 'egress_blocked' });
});

test.each(['Upper', '-x', 'a_b', 'a/b', '', 'x'.repeat(64), 'none', 'auto-route'])(
  'the name "%s" is refused',
  async (name) => {
    const providers = await open();
    await expect(providers.put(name, body)).rejects.toMatchObject({ code: 'invalid' });
  },
);

test('the name local is reserved', async () => {
  const providers = await open();
  await expect(providers.put('local', body)).rejects.toMatchObject({ code: 'conflict' });
  await expect(providers.delete('local')).rejects.toMatchObject({ code: 'conflict' });
});

test('who was never put cannot be deleted, nor who comes from the environment', async () => {
  const providers = await open({ environment: { GROQ_API_KEY: 'k' } });
  await expect(providers.delete('nobody')).rejects.toMatchObject({ code: 'not_found' });
  await expect(providers.delete('groq')).rejects.toMatchObject({
    code: 'conflict',
    message: 'the provider groq comes from the environment: take it out there',
  });
});

test('a provider is there once it is put, on the other replica too, and gone once deleted', async () => {
  const [here, there] = [await open(), await open()];
  expect((await here.put('p', { ...body, apiKey: 'sk-1' })).isNew).toBe(true);
  expect(await revealed(here.find('p'))).toEqual(['sk-1']);
  await expect.poll(() => there.targetsOf('m-1').length).toBe(1);
  expect(await revealed(there.find('p'))).toEqual(['sk-1']);
  expect(here.targetsOf('p/m-1')).toHaveLength(1);
  await there.delete('p');
  await expect.poll(() => here.find('p')).toBeUndefined();
  expect(here.targetsOf('m-1')).toEqual([]);
});

test('a replica that no bus tells finds what another put or deleted, and what it offers', async () => {
  const [here, alone] = [await open(), await open({ isAlone: true })];
  lister.answers.set('/v1/models', { data: [{ id: 'm-listed' }] });
  await here.put('p', { dialect: 'openai', baseUrl: `${lister.origin}/v1`, apiKey: 'sk-1' });
  await expect.poll(() => alone.targetsOf('m-listed').length, { timeout: 10_000 }).toBe(1);
  await here.delete('p');
  await expect.poll(() => alone.find('p'), { timeout: 10_000 }).toBeUndefined();
});

test('a change puts a new object in place and leaves the one in use and all others as they are', async () => {
  const providers = await open();
  const { provider: before } = await providers.put('p', body);
  const { provider: other } = await providers.put('q', body);
  const changes = vi.fn<() => void>();
  const stop = providers.onChange(changes);
  const { provider: after, isNew } = await providers.put('p', { ...body, weight: 3 });
  expect(isNew).toBe(false);
  expect([before.weight, after.weight]).toEqual([1, 3]);
  expect(providers.find('q')).toBe(other);
  expect(changes).toHaveBeenCalledOnce();
  await providers.refresh();
  expect(changes).toHaveBeenCalledOnce();
  stop();
  await providers.delete('p');
  expect(changes).toHaveBeenCalledOnce();
});

test('stored keys lie sealed, stay over an update that names none, and go with null', async () => {
  const providers = await open();
  await providers.put('p', { ...body, apiKeys: ['sk-1', 'sk-2'], headers: { 'x-team': 'red' } });
  const rows = await ground.database.query('select * from gateway.providers');
  expect(JSON.stringify(rows)).not.toMatch(/sk-1|red/);
  expect(inspect(providers.all(), { depth: 9 }) + JSON.stringify(providers.all())).not.toMatch(
    /sk-1/,
  );
  const kept = await providers.put('p', { ...body, weight: 2, headers: { 'x-team': '***' } });
  expect(await revealed(kept.provider)).toEqual(['sk-1', 'sk-2']);
  expect(kept.provider.headers).toEqual({ 'x-team': 'red' });
  const reopened = await open();
  expect(await revealed(reopened.find('p'))).toEqual(['sk-1', 'sk-2']);
  const dropped = await providers.put('p', { ...body, apiKey: null });
  expect(dropped.provider.keys).toEqual([]);
});

test('a stored key is never shown to another origin than the one it was given for', async () => {
  const providers = await open();
  await providers.put('p', { ...body, apiKey: 'sk-1', headers: { 'x-key': 'v' } });
  const elsewhere = { ...body, baseUrl: 'http://127.0.0.1:10/v1' };
  await expect(providers.put('p', elsewhere)).rejects.toMatchObject({ reason: 'api_key_required' });
  const withHeader = { ...elsewhere, apiKey: 'sk-2', headers: { 'x-key': '***' } };
  await expect(providers.put('p', withHeader)).rejects.toMatchObject({ code: 'invalid' });
  const { provider } = await providers.put('p', { ...elsewhere, apiKey: 'sk-2' });
  expect(await revealed(provider)).toEqual(['sk-2']);
});

test('a start without the key file that keys are sealed with is refused', async () => {
  const providers = await open();
  await providers.put('p', { ...body, apiKey: 'sk-1' });
  const file = join(ground.dataFolder, 'secrets', 'key-1');
  await rename(file, `${file}.away`);
  try {
    await expect(ground.open()).rejects.toMatchObject({ reason: 'bad_key_file' });
  } finally {
    await rename(`${file}.away`, file);
  }
});

test('what a model leaves out comes from the catalogue by its name, else from defaults', async () => {
  const providers = await open();
  const models = [
    { name: 'claude-sonnet-4-5' },
    { name: 'claude-haiku-4-5', inputCostPerMToken: 9, quality: 0.1 },
    { name: 'house-model' },
  ];
  const settings = { ...body, dialect: 'anthropic', models };
  const { provider } = await providers.put('anthropic', settings);
  expect(provider.models.get('claude-sonnet-4-5')).toMatchObject({
    prices: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75, longCacheWrite: 6 },
    contextWindow: 200_000,
  });
  expect(provider.models.get('claude-haiku-4-5')).toMatchObject({
    prices: { input: 9, output: 5 },
    quality: 0.1,
  });
  expect(provider.models.get('claude-haiku-4-5')?.prices.cachedInput).toBeUndefined();
  expect(provider.models.get('house-model')).toEqual({
    name: 'house-model',
    capabilities: new Set(['chat']),
    areCapabilitiesAssumed: true,
    prices: { input: 0, output: 0 },
    isPriceUnknown: true,
    quality: 0.5,
    contextWindow: 128_000,
    createdAt: 0,
  });
});

test('the environment names providers by their keys, several keys by commas', async () => {
  const providers = await open({
    environment: {
      OPENAI_API_KEY: 'a, b',
      GEMINI_API_KEY: 'g',
      MISTRAL_BASE_URL: lister.origin,
      AZURE_OPENAI_ENDPOINT: 'https://unit.openai.azure.com/',
      AZURE_OPENAI_API_KEY: 'z',
      AZURE_OPENAI_DEPLOYMENTS: 'gpt-4o, fast=gpt-4o-mini',
    },
  });
  expect(providers.all().map(({ name }) => name)).toEqual(['azure', 'gemini', 'mistral', 'openai']);
  expect(await revealed(providers.find('openai'))).toEqual(['a', 'b']);
  expect(providers.find('gemini')?.dialect).toBe('gemini');
  const azure = providers.find('azure');
  expect(azure?.baseUrl).toBe('https://unit.openai.azure.com/openai/v1');
  expect(azure?.models.get('fast')?.prices).toMatchObject({ input: 0.15, output: 0.6 });
});

test('what is put over the API stands before the file, and that before the environment', async () => {
  const path = join(ground.dataFolder, 'order.json');
  const inFile = { ...body, baseUrl: 'http://127.0.0.1:7/v1' };
  await writeFile(path, JSON.stringify({ providers: { groq: inFile, mine: inFile } }));
  const environment = { GROQ_API_KEY: 'k', GATEWAY_CONFIG: path };
  const providers = await open({ environment });
  expect(providers.find('groq')?.origin).toBe('file');
  const { isNew } = await providers.put('groq', body);
  expect([isNew, providers.find('groq')?.origin]).toEqual([true, 'api']);
  await providers.delete('groq');
  expect(providers.find('groq')?.origin).toBe('file');
  await expect(providers.delete('mine')).rejects.toMatchObject({ code: 'conflict' });
});

test('a changed file is read again; of a faulty one nothing is taken', async () => {
  const path = join(ground.dataFolder, 'live.json');
  const lines: string[] = [];
  const log = createLog({ level: 'silent', isPretty: false });
  vi.spyOn(log, 'error').mockImplementation((...args) => void lines.push(JSON.stringify(args)));
  await writeFile(path, JSON.stringify({ providers: { f: { ...body, apiKey: 'sk-file' } } }));
  const providers = await open({ environment: { GATEWAY_CONFIG: path }, log });
  const first = providers.find('f');
  expect(await revealed(first)).toEqual(['sk-file']);
  await writeFile(path, JSON.stringify({ providers: { g: body, f: { ...body, wieght: 2 } } }));
  await expect.poll(() => lines.join()).toContain('providers.f.wieght is not a known setting');
  await writeFile(path, '{"providers": {"f": {"apiKey": "sk-broken"');
  await expect.poll(() => lines.join()).toContain('not valid JSON');
  expect(lines.join()).not.toContain('sk-broken');
  expect([providers.find('f'), providers.find('g')]).toEqual([first, undefined]);
  await writeFile(path, JSON.stringify({ providers: { g: body } }));
  await expect.poll(() => providers.find('g')?.origin).toBe('file');
  expect(providers.find('f')).toBeUndefined();
});

test('a start with a file that cannot be used is refused', async () => {
  const path = join(ground.dataFolder, 'absent.json');
  await rm(path, { force: true });
  await expect(ground.open({ environment: { GATEWAY_CONFIG: path } })).rejects.toThrow(
    'cannot be read',
  );
  await writeFile(path, JSON.stringify({ providers: { local: body } }));
  await expect(ground.open({ environment: { GATEWAY_CONFIG: path } })).rejects.toThrow('reserved');
});

test('a provider that lists no models is asked for them, with its key', async () => {
  lister.answers.set('/v1/models', {
    data: [
      { id: 'gpt-4o-mini', created: 1_700_000_000 },
      { id: 'whisper-1' },
      { id: 'own', context_length: 4096 },
      { id: 'bad name' },
      { id: 7 },
    ],
  });
  const providers = await open();
  const settings = { dialect: 'openai', baseUrl: `${lister.origin}/v1/`, apiKey: 'sk-list' };
  const { provider } = await providers.put('p', settings);
  expect([...provider.models.keys()]).toEqual(['gpt-4o-mini', 'own']);
  expect(provider.models.get('own')?.contextWindow).toBe(4096);
  expect(provider.models.get('gpt-4o-mini')?.createdAt).toBe(1_700_000_000);
  expect(lister.asked.at(-1)?.headers.authorization).toBe('Bearer sk-list');
  lister.answers.clear();
  await providers.refresh();
  expect(providers.find('p')).toBe(provider);
  lister.answers.set('/v1/models', { data: [{ id: 'newer' }] });
  await providers.refresh();
  expect([...(providers.find('p')?.models.keys() ?? [])]).toEqual(['newer']);
});

test('of an endless list the first 2000 models are kept, and that is told once', async () => {
  const data = Array.from({ length: 2001 }, (_, at) => ({ id: `gpt-4o-${at}` }));
  lister.answers.set('/v1/models', { data });
  const log = createLog({ level: 'silent', isPretty: false });
  const warn = vi.spyOn(log, 'warn');
  const providers = await open({ log });
  const { provider } = await providers.put('long', {
    dialect: 'openai',
    baseUrl: `${lister.origin}/v1`,
  });
  expect(provider.models.size).toBe(2000);
  await providers.refresh();
  const told = warn.mock.calls.filter(([facts]) => Object.hasOwn(facts as object, 'kept'));
  expect(told.map(([facts]) => facts)).toEqual([{ provider: 'long', found: 2001, kept: 2000 }]);
});

test('a model of Ollama is found with and without the tag latest', () => {
  const models = ['llama3:latest', 'phi', 'qwen:7b', 'both', 'both:latest'].map((name) =>
    fakeModel(name),
  );
  const index = new ProviderIndex([
    fakeProvider('o', models, { dialect: 'ollama' }),
    fakeProvider('p', [fakeModel('llama3')]),
  ]);
  const found = (name: string) => index.targetsOf(name).map(targetId);
  expect(found('llama3')).toEqual(['p/llama3', 'o/llama3:latest']);
  expect(found('o/llama3')).toEqual(['o/llama3:latest']);
  expect(found('phi:latest')).toEqual(['o/phi']);
  expect(found('both')).toEqual(['o/both']);
  expect(found('qwen:7b:latest')).toEqual([]);
});

test('the models of Ollama, Gemini and Anthropic are found where those list them', async () => {
  lister.answers.set('/api/tags', { models: [{ name: 'llama3.2:3b', size: 2_019_393_189 }] });
  lister.answers.set('/v1beta/models?pageSize=1000', {
    models: [{ name: 'models/gemini-2.5-pro', inputTokenLimit: 1000, outputTokenLimit: 10 }],
  });
  lister.answers.set('/a/models?limit=1000', { data: [{ id: 'claude-opus-5' }] });
  const providers = await open({ environment: { OLLAMA_URL: lister.origin } });
  await providers.put('g', { dialect: 'gemini', baseUrl: `${lister.origin}/v1beta` });
  await providers.put('a', { dialect: 'anthropic', baseUrl: `${lister.origin}/a` });
  await expect.poll(() => providers.find('ollama')?.models.size).toBe(1);
  expect(providers.find('ollama')?.models.get('llama3.2:3b')).toMatchObject({
    prices: { input: 0, output: 0 },
    sizeBytes: 2_019_393_189,
  });
  expect(providers.find('g')?.models.get('gemini-2.5-pro')).toMatchObject({ contextWindow: 1000 });
  expect(providers.targetsOf('claude-opus-5')).toHaveLength(1);
});

test('who names a provider gets it alone, and the local one comes first', async () => {
  const providers = await open();
  await providers.put('a', body);
  await providers.put('b', { ...body, models: [model, { name: 'a/m-1' }] });
  const local: Provider = { ...(providers.find('a') as Provider), name: 'local', origin: 'local' };
  providers.setLocal(local);
  expect(providers.all()[0]).toBe(local);
  expect(providers.targetsOf('m-1').map(({ provider }) => provider.name)).toEqual([
    'local',
    'a',
    'b',
  ]);
  expect(providers.targetsOf('a/m-1').map(({ provider }) => provider.name)).toEqual(['a']);
});

async function revealed(provider: Provider | undefined): Promise<string[]> {
  return Promise.all((provider?.keys ?? []).map(async (key) => key.reveal()));
}

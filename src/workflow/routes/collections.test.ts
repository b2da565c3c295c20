import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Fault } from '../../kit/errors.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, silentLog } from '../../kit/testing.ts';
import { Collections } from '../collections/collections.ts';
import { createLetterModels, openCollectionTables } from '../collections/testing.ts';
import { collectionRoutes } from '../schemas/collections.ts';
import { collectionHandlers } from './collections.ts';

const contract = {
  name: 'workflow',
  title: 'Workflow',
  version: '0.1.0',
  description: 'Collections.',
  error: plainEnvelope.schema,
  routes: collectionRoutes,
} as const satisfies Contract;

const lifetime = new Lifetime(silentLog);
const models = createLetterModels();
const tokens = { reader: '', author: '', other: '', admin: '', nobody: '' };
let server: Awaited<ReturnType<typeof createTestServer>>;

beforeAll(async () => {
  const sql = lifetime.own('the database', await openCollectionTables());
  const collections = new Collections({ sql, models: models.client });
  server = await createTestServer(contract);
  lifetime.defer('http', () => server.http.close(0));
  server.http.serve(contract, collectionHandlers({ collections }));
  const sign = (sub: string, ...permissions: string[]) => server.issuer.sign({ sub, permissions });
  tokens.reader = await sign('usr_r', 'workflow:read');
  tokens.author = await sign('usr_a', 'workflow:create');
  tokens.other = await sign('usr_b', 'workflow:create');
  tokens.admin = await sign('usr_c', 'workflow:admin');
  tokens.nobody = await sign('usr_n');
  await call('author', 'POST', '', { name: 'facts', description: 'Known things.' });
});

afterAll(() => lifetime[Symbol.asyncDispose]());

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

async function call(who: keyof typeof tokens, method: Method, path = '', payload?: object) {
  const answer = await server.http.app.inject({
    method,
    url: `/api/v1/collections${path}`,
    headers: { authorization: `Bearer ${tokens[who]}` },
    ...(payload && { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

test.each([
  ['nobody', 'GET', ''],
  ['nobody', 'POST', '/facts/search'],
  ['reader', 'POST', ''],
  ['reader', 'PUT', '/facts/documents'],
  ['reader', 'DELETE', '/facts'],
  ['other', 'DELETE', '/facts'],
] as const)('%s may not %s %s', async (who, method, path) => {
  const body = { name: 'x', query: 'x', documents: [{ content: 'x' }] };
  const payload = method === 'GET' || method === 'DELETE' ? undefined : body;
  expect(await call(who, method, path, payload)).toMatchObject({ status: 403 });
});

test.each([
  ['POST', '', { name: 'a b' }],
  ['POST', '', { name: '../x' }],
  ['POST', '', {}],
  ['PUT', '/facts/documents', { documents: [] }],
  ['PUT', '/facts/documents', { documents: [{ content: '' }] }],
  ['PUT', '/facts/documents', { documents: [{ content: 'a\u0000b' }] }],
  ['PUT', '/facts/documents', { documents: [{ content: 'half \ud83d' }] }],
  ['PUT', '/facts/documents', { documents: [{ content: 'a', metadata: { x: 'a\u0000' } }] }],
  ['PUT', '/facts/documents', { documents: [{ content: 'a', metadata: { '\ud83d': 1 } }] }],
  [
    'PUT',
    '/facts/documents',
    { documents: [{ content: 'a', metadata: { x: 'x'.repeat(70_000) } }] },
  ],
  ['PUT', '/facts/documents', { documents: [{ content: 'a', id: 'a\nb' }] }],
  ['PUT', '/facts/documents', { documents: Array.from({ length: 501 }, () => ({ content: 'a' })) }],
  ['POST', '/facts/search', { query: '' }],
  ['POST', '/facts/search', { query: 'a', limit: 101 }],
  ['POST', '/facts/search', { query: 'a', filter: { x: '\u0000' } }],
] as const)('%s %s with %j is refused', async (method, path, payload) => {
  expect((await call('author', method, path, payload)).status).toBe(400);
});

test('an unknown collection is COLLECTION_NOT_FOUND everywhere', async () => {
  const answers = await Promise.all([
    call('author', 'GET', '/lost'),
    call('author', 'DELETE', '/lost'),
    call('author', 'GET', '/lost/documents'),
    call('author', 'PUT', '/lost/documents', { documents: [{ content: 'a' }] }),
    call('author', 'DELETE', '/lost/documents/a'),
    call('author', 'POST', '/lost/search', { query: 'a' }),
  ]);
  for (const { status, body } of answers) {
    expect(status).toBe(404);
    expect(body.error.code).toBe('COLLECTION_NOT_FOUND');
  }
});

test('an embedder that fails is 503 and nothing is stored', async () => {
  models.state.failure = new Fault('upstream', 'no');
  const documents = [{ id: 'x', content: 'xxx' }];
  const answer = await call('author', 'PUT', '/facts/documents', { documents });
  models.state.failure = undefined;
  expect(answer.status).toBe(503);
  expect(answer.body.error.code).toBe('EMBEDDER_UNAVAILABLE');
  expect((await call('reader', 'GET', '/facts/documents')).body.total).toBe(0);
});

test('a collection is made, filled, searched, listed and deleted', async () => {
  const made = await call('author', 'POST', '', { name: 'words' });
  expect(made).toMatchObject({
    status: 201,
    body: { name: 'words', documents: 0, chunks: 0, ownerId: 'usr_a' },
  });
  expect(made.body.id).toMatch(/^col_/);
  expect((await call('author', 'POST', '', { name: 'words' })).status).toBe(409);
  const metadata = { lang: 'de', path: 'a\\u0000b' };
  const documents = [{ id: 'a/b c', content: 'aaa 😀', metadata }, { content: 'zzz' }];
  const stored = await call('author', 'POST', '/words/documents', { documents });
  expect(stored).toMatchObject({ status: 200, body: { chunks: 2 } });
  expect(stored.body.ids[0]).toBe('a/b c');
  const found = await call('reader', 'POST', '/words/search', { query: 'a', limit: 1 });
  expect(found.body).toEqual({
    results: [{ id: 'a/b c', content: 'aaa 😀', score: 1, metadata }],
    count: 1,
  });
  const filtered = { query: 'a', filter: { lang: 'en' } };
  expect((await call('reader', 'POST', '/words/search', filtered)).body.count).toBe(0);
  const page = await call('reader', 'GET', '/words/documents?limit=1');
  expect(page.body).toMatchObject({ total: 2, limit: 1, offset: 0 });
  expect(page.body.documents).toMatchObject([{ id: 'a/b c', chunks: 1, metadata }]);
  const id = encodeURIComponent('a/b c');
  expect((await call('author', 'DELETE', `/words/documents/${id}`)).body.deleted).toBe(true);
  expect((await call('author', 'DELETE', `/words/documents/${id}`)).status).toBe(404);
  const shown = await call('reader', 'GET', `/${made.body.id}`);
  expect(shown.body).toMatchObject({
    name: 'words',
    documents: 1,
    model: 'letters',
    dimensions: 26,
  });
  const list = await call('reader', 'GET');
  expect(list.body.collections.map(({ name }: { name: string }) => name)).toEqual([
    'facts',
    'words',
  ]);
  expect((await call('admin', 'DELETE', '/words')).body).toMatchObject({ deleted: true });
  expect((await call('reader', 'GET', '/words')).status).toBe(404);
});

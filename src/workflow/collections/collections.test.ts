import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { Collections } from './collections.ts';
import { createLetterModels, openCollectionTables } from './testing.ts';

const lifetime = new Lifetime(silentLog);
const author = { subject: 'usr_1', isAdministrator: false };
let sql: Database;
let models: ReturnType<typeof createLetterModels>;
let collections: Collections;

beforeAll(async () => {
  sql = lifetime.own('the database', await openCollectionTables());
});

beforeEach(async () => {
  await sql.query('truncate workflow.collections cascade');
  models = createLetterModels();
  collections = new Collections({ sql, models: models.client });
  await collections.create({ name: 'facts' }, author);
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const store = (...documents: { id?: string; content: string; metadata?: object }[]) =>
  collections.upsert('facts', { author, documents: documents as { content: string }[] });

const find = async (query: string, where = collections, more: object = {}) => {
  const hits = await where.search('facts', { query, limit: 10, ...more });
  return hits.map(({ id }) => id);
};

test('an unknown collection is not found', async () => {
  const unknown = { code: 'not_found', reason: 'collection_not_found' };
  await expect(collections.search('lost', { query: 'a', limit: 1 })).rejects.toMatchObject(unknown);
  await expect(collections.read('lost')).rejects.toMatchObject(unknown);
  const upsert = collections.upsert('lost', { author, documents: [{ content: 'a' }] });
  await expect(upsert).rejects.toMatchObject(unknown);
  expect(models.state.calls).toBe(0);
});

test('a name is taken once, and that of the chats never', async () => {
  await expect(collections.create({ name: 'facts' }, author)).rejects.toMatchObject({
    code: 'conflict',
    reason: 'collection_exists',
  });
  await expect(collections.create({ name: 'conversations' }, author)).rejects.toMatchObject({
    reason: 'name_reserved',
  });
});

test('no more collections are created than there may be', async () => {
  const few = new Collections({ sql, models: models.client, countMax: 1 });
  await expect(few.create({ name: 'more' }, author)).rejects.toMatchObject({
    code: 'exhausted',
    reason: 'too_many_collections',
  });
});

test('a collection of somebody else is searched and not changed', async () => {
  await store({ id: 'a', content: 'aaa' });
  const stranger = { subject: 'usr_2', isAdministrator: false };
  const refusal = { code: 'forbidden', reason: 'not_owner' };
  const upsert = collections.upsert('facts', { author: stranger, documents: [{ content: 'b' }] });
  await expect(upsert).rejects.toMatchObject(refusal);
  await expect(collections.deleteDocument('facts', 'a', stranger)).rejects.toMatchObject(refusal);
  await expect(collections.delete('facts', stranger)).rejects.toMatchObject(refusal);
  expect(await find('aaa')).toEqual(['a']);
  await collections.delete('facts', { ...stranger, isAdministrator: true });
  await expect(find('aaa')).rejects.toMatchObject({ reason: 'collection_not_found' });
});

test('nothing is stored when a later batch of texts cannot be embedded', async () => {
  models.state.failure = new Fault('upstream', 'the embedder fell over');
  models.state.failsAt = 1;
  const many = Array.from({ length: 100 }, (_, at) => ({ id: `d${at}`, content: 'abc' }));
  await expect(store(...many)).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'embedder_unavailable',
  });
  expect(models.state.calls).toBe(2);
  expect(await collections.read('facts')).toMatchObject({ documents: 0, chunks: 0, revision: 0 });
});

test('a model that no longer has the same vectors is refused, and nothing is mixed', async () => {
  await store({ id: 'a', content: 'aaa' });
  await sql.query(`update workflow.collections set dimensions = 3`);
  const refusal = { code: 'conflict', reason: 'embedding_model_changed' };
  await expect(store({ id: 'b', content: 'bbb' })).rejects.toMatchObject(refusal);
  await expect(find('aaa')).rejects.toMatchObject(refusal);
  expect(await collections.read('facts')).toMatchObject({ documents: 1 });
});

test('two documents of one request cannot have the same id', async () => {
  const twice = store({ id: 'a', content: 'a' }, { id: 'a', content: 'b' });
  await expect(twice).rejects.toMatchObject({ code: 'invalid', reason: 'duplicate_document' });
});

test('documents are found by closeness, with a bound for both number and score', async () => {
  const metadata = { kind: 'letter' };
  await store({ id: 'a', content: 'aaaa', metadata }, { id: 'ab', content: 'ab' });
  await store({ id: 'z', content: 'zzz' });
  expect(await collections.search('facts', { query: 'aa', limit: 2 })).toEqual([
    { id: 'a', content: 'aaaa', score: 1, metadata },
    { id: 'ab', content: 'ab', score: 0.707107, metadata: {} },
  ]);
  expect(await find('aa', collections, { minScore: 0.9 })).toEqual(['a']);
  expect(await find('z', collections, { limit: 1 })).toEqual(['z']);
});

test('an empty collection finds nothing and asks no model', async () => {
  expect(await find('aaa')).toEqual([]);
  expect(models.state.calls).toBe(0);
});

test('a filter takes only documents whose metadata has its fields', async () => {
  await store(
    { id: 'a', content: 'aa', metadata: { lang: 'de', tags: ['x', 'y'] } },
    { id: 'b', content: 'aab', metadata: { lang: 'en' } },
    { id: 'c', content: 'aac' },
  );
  expect(await find('a', collections, { filter: { lang: 'en' } })).toEqual(['b']);
  expect(await find('a', collections, { filter: { tags: ['y'] } })).toEqual(['a']);
  expect(await find('a', collections, { filter: { lang: 'fr' } })).toEqual([]);
});

test('a long document is found by each of its parts, and once', async () => {
  const long = `${'a '.repeat(1_500)}\n\n${'z '.repeat(1_500)}`;
  const { chunks } = await store({ id: 'long', content: long }, { id: 'b', content: 'bbb' });
  expect(chunks).toBeGreaterThan(3);
  const [hit, ...others] = await collections.search('facts', { query: 'z', limit: 10 });
  expect(hit).toMatchObject({ id: 'long', score: 1 });
  expect(hit?.content).toMatch(/^[z\s]+$/);
  expect(others.map(({ id }) => id)).toEqual(['b']);
  expect(await collections.documents('facts', { limit: 1, offset: 1 })).toMatchObject({
    documents: [{ id: 'long', content: long, chunks: chunks - 1 }],
    total: 2,
  });
});

test('a document that is stored again leaves nothing of the old one behind', async () => {
  await store({ id: 'a', content: 'a '.repeat(3_000) });
  await store({ id: 'a', content: 'zzz', metadata: { v: 2 } });
  expect(await find('a', collections, { minScore: 0.1 })).toEqual([]);
  expect(await collections.read('facts')).toMatchObject({ documents: 1, chunks: 1 });
  const left = await sql.query('select 1 from workflow.collection_chunks');
  expect(left).toHaveLength(1);
});

test('of writers of one document at the same time one wins as a whole', async () => {
  const contents = ['a', 'b', 'c', 'd', 'e'].map((letter, at) =>
    `${letter} `.repeat(1 + at * 1_200),
  );
  await Promise.all([...contents, ...contents].map((content) => store({ id: 'one', content })));
  const { documents } = await collections.documents('facts', { limit: 10, offset: 0 });
  expect(documents).toHaveLength(1);
  const letter = documents[0]?.content.charAt(0) ?? '';
  for (const asked of ['a', 'b', 'c', 'd', 'e']) {
    expect(await find(asked, collections, { minScore: 0.5 })).toEqual(
      asked === letter ? ['one'] : [],
    );
  }
});

test('a deleted document is gone; deleting it again is not found', async () => {
  await store({ id: 'a', content: 'aaa' }, { id: 'b', content: 'aab' });
  await collections.deleteDocument('facts', 'a', author);
  expect(await find('a')).toEqual(['b']);
  expect(await collections.documents('facts', { limit: 10, offset: 0 })).toMatchObject({
    documents: [{ id: 'b' }],
    total: 1,
  });
  await expect(collections.deleteDocument('facts', 'a', author)).rejects.toMatchObject({
    reason: 'document_not_found',
  });
  await store({ id: 'a', content: 'aaa' });
  expect(await find('a')).toEqual(['a', 'b']);
});

describe('on two replicas', () => {
  let other: Collections;

  beforeEach(async () => {
    other = new Collections({ sql, models: models.client });
    await store({ id: 'a', content: 'aaa' }, { id: 'b', content: 'bbb' });
    expect(await find('a', other)).toEqual(['a', 'b']);
  });

  test('one sees what the other stored and deleted', async () => {
    await store({ id: 'c', content: 'aac' }, { id: 'a', content: 'zzz' });
    expect(await find('a', other, { minScore: 0.1 })).toEqual(['c']);
    await collections.deleteDocument('facts', 'c', author);
    expect(await find('a', other, { minScore: 0.1 })).toEqual([]);
    expect(await find('z', other, { minScore: 0.1 })).toEqual(['a']);
  });

  test('one that missed the marks of deletions reads everything anew', async () => {
    await collections.deleteDocument('facts', 'a', author);
    await sql.query(
      `update workflow.collection_documents set updated_at = now() - interval '2 hours'`,
    );
    await collections.deleteDocument('facts', 'b', author);
    const marks = await sql.query(`select 1 from workflow.collection_documents`);
    expect(marks).toHaveLength(1);
    expect(await find('a', other)).toEqual([]);
  });

  test('one that is far behind catches up', async () => {
    for (let at = 0; at < 70; at += 1) await store({ id: 'a', content: at % 2 ? 'xxx' : 'yyy' });
    expect(await find('x', other, { minScore: 0.1 })).toEqual(['a']);
    for (let at = 0; at < 10; at += 1) await store({ id: `n${at}`, content: 'qqq' });
    expect(await find('q', other, { minScore: 0.1 })).toHaveLength(10);
  });
});

test('what is too large for the memory is searched page by page, with the same answer', async () => {
  const contents = ['abc', 'bcd', 'cde', 'aab', 'zzz'];
  await store(...contents.map((content, at) => ({ id: `d${at}`, content })));
  const small = new Collections({ sql, models: models.client, cacheBytesMax: 100 });
  expect(await find('abc', small)).toEqual(await find('abc'));
  expect(await find('abc', small, { limit: 2 })).toEqual(['d0', 'd3']);
});

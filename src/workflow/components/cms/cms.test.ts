import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Secret } from '../../../kit/config.ts';
import { findFreePort } from '../../../kit/testing.ts';
import type { NodeContext } from '../component.ts';
import { cmsComponents } from './cms-components.ts';
import type { CmsOptions } from './drupal.ts';
import { runComponent, SmallDrupal, startSystem, type Reply } from './testing.ts';

let drupal: SmallDrupal;
let reply: Reply | undefined;
let system: Awaited<ReturnType<typeof startSystem>>;
let cms: CmsOptions;

beforeAll(async () => {
  system = await startSystem((asked) => reply ?? drupal.answer(asked));
  cms = { url: `${system.url}/`, token: new Secret('cms-token') };
});

beforeEach(() => {
  drupal = new SmallDrupal('Bearer cms-token');
  reply = undefined;
  system.asked.length = 0;
});

afterAll(() => system[Symbol.asyncDispose]());

const run = (
  name: string,
  data: Readonly<Record<string, unknown>>,
  { options = cms, ...context }: Partial<NodeContext> & { readonly options?: CmsOptions } = {},
) => runComponent(cmsComponents(options), { name, data, context });

const article = { bundle: 'article', fields: { title: 'One' } };

test('without an address every component says that no CMS is set up', async () => {
  const settings = [
    ['EntityCreate', article],
    ['EntityLoad', { nid: 1, bundle: 'article' }],
    ['EntityUpdate', { nid: 1, fields: {} }],
    ['UserLogin', { username: 'a', password: 'b' }],
  ] as const;
  for (const [name, data] of settings) {
    await expect(run(name, data, { options: { url: undefined } })).rejects.toMatchObject({
      code: 'unimplemented',
      reason: 'cms_not_configured',
    });
  }
});

test.each([
  ['EntityCreate', { ...article, bundle: '../admin' }],
  ['EntityLoad', {}],
  ['EntityLoad', { nid: '1 or 1=1' }],
  ['EntityLoad', { uuid: '../../user' }],
  ['UserLogin', { username: 'a' }],
])('%s with the settings %j is refused before the CMS is asked', async (name, data) => {
  await expect(run(name, data)).rejects.toMatchObject({ reason: 'bad_setting' });
  expect(system.asked).toEqual([]);
});

test('what the CMS refuses is said in its words, with the fields', async () => {
  const untitled = run('EntityCreate', { bundle: 'article', fields: { body: 'x' } });
  await expect(untitled).rejects.toMatchObject({
    code: 'invalid',
    reason: 'cms_rejected',
    message: 'the CMS: title: This value should not be null.',
    detail: { status: 422, fields: ['/data/attributes/title'] },
  });
  const options = { url: system.url, token: new Secret('other') };
  await expect(run('EntityCreate', article, { options })).rejects.toMatchObject({
    code: 'forbidden',
    reason: 'cms_forbidden',
  });
});

test.each([
  [{ status: 500, text: '<html>' }, 'upstream', 'cms_failed'],
  [{ status: 503 }, 'unavailable', 'cms_unavailable'],
  [{ status: 429, headers: { 'retry-after': '7' } }, 'exhausted', 'cms_rate_limited'],
  [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'upstream', 'cms_failed'],
  [{ json: { data: { title: 'no id' } } }, 'upstream', 'cms_failed'],
  [{ text: '<html>maintenance</html>' }, 'upstream', 'cms_failed'],
  [{ json: {} }, 'upstream', 'cms_failed'],
  [{ json: { data: null } }, 'upstream', 'cms_failed'],
  [{ json: 'x' }, 'upstream', 'cms_failed'],
  [{ status: 404 }, 'not_found', 'cms_not_found'],
  [
    { status: 400, json: { errors: [null, 'x', { detail: 5, source: null }] } },
    'invalid',
    'cms_rejected',
  ],
  [{ status: 400, json: { message: { a: 1 } } }, 'invalid', 'cms_rejected'],
  ['cut', 'unavailable', 'cms_unreachable'],
  ['hang', 'deadline', 'cms_timeout'],
] as const)('a CMS that answers %j fails as %s', async (answer, code, reason) => {
  reply = answer;
  const timeoutMs = answer === 'hang' ? 100 : 5_000;
  await expect(run('EntityCreate', article, { timeoutMs })).rejects.toMatchObject({ code, reason });
});

test('of an entity what has another form than JSON:API says is not there', async () => {
  const links = { self: 'https://cms.test/jsonapi/node/article/u' };
  reply = { json: { data: { id: 'u', attributes: null, relationships: [], links } } };
  const { output } = await run('EntityLoad', { nid: 1, bundle: 'article' });
  expect(output.entity).toMatchObject({ uuid: 'u', nid: null, url: links.self, relationships: {} });
});

test.each([
  [{ status: 503 }, 'cms_unavailable'],
  [{ status: 500, text: '<html>' }, 'cms_failed'],
  [{ status: 406, json: { message: 'No.' } }, 'bundle_required'],
  [{ json: { type: [null] } }, 'bundle_required'],
])('a node whose bundle is asked for fails as the CMS does: %j', async (answer, reason) => {
  reply = answer;
  await expect(run('EntityLoad', { nid: 1 })).rejects.toMatchObject({ reason });
});

test.each([
  [{ status: 403, json: { message: 'Blocked.' } }, 'login_failed'],
  [{ status: 404 }, 'cms_not_found'],
  [{ status: 503 }, 'cms_unavailable'],
  [{ text: '<html>maintenance</html>' }, 'cms_failed'],
  [{ json: { current_user: null, csrf_token: 5 } }, 'cms_failed'],
])('a login that is answered %j fails as %s', async (answer, reason) => {
  reply = answer;
  const login = { username: 'ann', password: 'correct' };
  await expect(run('UserLogin', login)).rejects.toMatchObject({ reason });
});

test('a CMS that is not there is unavailable, and a cancelled node ends at once', async () => {
  const options = { url: `http://127.0.0.1:${await findFreePort()}` };
  await expect(run('EntityCreate', article, { options })).rejects.toMatchObject({
    reason: 'cms_unreachable',
  });
  reply = 'hang';
  const signal = AbortSignal.timeout(50);
  const stopped = run('EntityCreate', article, { signal, timeoutMs: 60_000 });
  await expect(stopped).rejects.toMatchObject({ code: 'deadline' });
});

test('an entity is created with its fields and references', async () => {
  const uid = { data: { type: 'user--user', id: 'u-1' } };
  const body = { value: '<p>Hello</p>', format: 'basic_html' };
  const fields = { title: 'One', body, uid };
  const { output, entityCreated } = await run('EntityCreate', { bundle: 'article', fields });
  const [stored] = drupal.entities;
  expect(stored).toMatchObject({ attributes: { title: 'One', body }, relationships: { uid } });
  expect(output).toEqual({ nid: 11, url: `${system.url}/node/11`, uuid: stored?.id });
  expect(entityCreated).toEqual({ entityType: 'node', bundle: 'article', ...output });
});

test('a second attempt finds what the first one created', async () => {
  const first = await run('EntityCreate', article);
  const second = await run('EntityCreate', article, { attempt: 2 });
  expect(second.output).toEqual(first.output);
  const other = await run('EntityCreate', article, { idempotencyKey: 'another' });
  expect(other.output.nid).toBe(12);
  expect(drupal.entities).toHaveLength(2);
});

test('an entity is loaded by number, by UUID, and without its bundle', async () => {
  const { output } = await run('EntityCreate', article);
  const expected = { entity: { ...output, title: 'One', bundle: 'article', entityType: 'node' } };
  expect((await run('EntityLoad', { nid: 11, bundle: 'article' })).output).toMatchObject(expected);
  expect((await run('EntityLoad', { nid: '11' })).output).toMatchObject(expected);
  const byUuid = { uuid: output.uuid, bundle: 'article' };
  expect((await run('EntityLoad', byUuid)).output).toMatchObject(expected);
  for (const nowhere of [
    { nid: 99, bundle: 'article' },
    { nid: 99 },
    { nid: 11, bundle: 'page' },
  ]) {
    await expect(run('EntityLoad', nowhere)).rejects.toMatchObject({
      code: 'not_found',
      reason: 'entity_not_found',
    });
  }
});

test('an update changes the fields that it names', async () => {
  await run('EntityCreate', { bundle: 'article', fields: { title: 'One', sticky: true } });
  const { output } = await run('EntityUpdate', { nid: 11, fields: { title: 'Two' } });
  expect(output).toMatchObject({ updated: true, nid: 11, url: `${system.url}/node/11` });
  expect(drupal.entities[0]?.attributes).toMatchObject({ title: 'Two', sticky: true });
  await expect(run('EntityUpdate', { nid: 99, fields: {} })).rejects.toMatchObject({
    reason: 'entity_not_found',
  });
});

test('a login gives the token, and a refusal never repeats the password', async () => {
  const basic = { url: system.url, basicAuth: new Secret('flow:secret') };
  const { output } = await run(
    'UserLogin',
    { username: 'ann', password: 'correct' },
    { options: basic },
  );
  expect(output).toEqual({ token: 'csrf-1', user: { uid: '7', name: 'ann' } });
  expect(system.asked[0]?.headers.authorization).toBeUndefined();
  const failure = await run('UserLogin', { username: 'ann', password: 'hunter2' }).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ code: 'forbidden', reason: 'login_failed' });
  expect(JSON.stringify([failure, String(failure)])).not.toContain('hunter2');
});

test('basic credentials are sent as such', async () => {
  drupal = new SmallDrupal(`Basic ${Buffer.from('flow:secret').toString('base64')}`);
  const options = { url: system.url, basicAuth: new Secret('flow:secret') };
  expect((await run('EntityCreate', article, { options })).output.nid).toBe(11);
});

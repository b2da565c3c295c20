import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type Ground, type Reply, type RunningAuth } from '../testing.ts';
import { logIn, openScripted, startProvider, type ScriptedAnswer } from './testing.ts';

const lifetime = new Lifetime(silentLog);
let ground: Ground;
let provider: Awaited<ReturnType<typeof openScripted>>;
let auth: RunningAuth;
let admin: string;

const dora = { sub: '42', preferred_username: 'dora', groups: ['developers'] };
const answerUser = (answer: ScriptedAnswer) => provider.answer('/user', answer);
const answerGroups = (body: unknown) => provider.answer('/groups?page=1', { body });
const answerTokens = (fields: object = {}) => {
  const body = { access_token: 'a', refresh_token: 'r', token_type: 'bearer', expires_in: 7200 };
  provider.answer('/token', { body: { ...body, ...fields } });
};

/** Its login page is the GitLab's of this test; what it says of users and tokens is scripted. */
async function configure(name: string, config: object = {}) {
  const gitlab = lifetime.own(`the login page of ${name}`, await startProvider('gitlab'));
  const { status } = await auth.call('POST', '/api/v1/auth/oauth/configure', {
    token: admin,
    body: {
      provider: name,
      config: {
        authorizationURL: `${gitlab.url}/oauth/authorize`,
        tokenURL: `${provider.url}/token`,
        userInfoURL: `${provider.url}/user`,
        clientID: gitlab.clientId,
        clientSecret: gitlab.clientSecret,
        callbackURL: gitlab.callback,
        ...config,
      },
    },
  });
  expect(status).toBe(200);
}

beforeAll(async () => {
  provider = lifetime.own('the provider', await openScripted());
  ground = lifetime.own('the ground', await openGround());
  auth = lifetime.own('auth', await startAuth(ground));
  admin = await auth.adminToken();
  await configure('claims');
  await configure('lists', { groupsURL: `${provider.url}/groups` });
});

beforeEach(() => {
  answerTokens();
  answerUser({ body: dora });
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const plainly = (refreshToken: string) =>
  auth.call('POST', '/api/v1/auth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken },
  });
const withProvider = (refreshToken: string, name = 'claims') =>
  auth.call('POST', '/api/v1/auth/oauth/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: refreshToken, provider: name },
  });
const errorOf = ({ status, body }: Reply) => [status, body.error?.code];

async function rolesOf({ body }: Reply): Promise<unknown> {
  const url = `/api/v1/auth/users/${body.user.id}`;
  return (await auth.call('GET', url, { token: admin })).body.roles;
}

async function logInAt(name: string): Promise<Reply> {
  return (await logIn(auth, 'dora', name)).reply;
}

describe('a user whom the provider refuses', () => {
  test.each([401, 403, 404])(
    'with %i keeps neither roles nor tokens, and may not log in',
    async (status) => {
      const reply = await logInAt('claims');
      expect(reply.body.user.roles).toEqual(['developer']);
      answerUser({ status, body: { message: 'Your account has been blocked.' } });
      const refused = await withProvider(reply.body.refresh_token);
      expect(refused.body.error).toMatchObject({
        code: 'invalid_grant',
        details: { reason: 'idp_login_required' },
      });
      expect(await rolesOf(reply)).toEqual([]);
      const refreshed = await plainly(reply.body.refresh_token);
      const held = await auth.call('GET', '/api/v1/auth/oauth/idp-token', {
        token: refreshed.body.access_token,
      });
      expect([refreshed.status, held.status]).toEqual([200, 401]);
      expect(errorOf(await logInAt('claims'))).toEqual([400, 'access_denied']);
    },
  );

  test.each<[string, ScriptedAnswer]>([
    ['a failure', { status: 503 }],
    ['a limit', { status: 429 }],
    ['a limit told with 403', { status: 403, headers: { 'retry-after': '60' } }],
    ['a budget told with 403', { status: 403, headers: { 'x-ratelimit-remaining': '0' } }],
    [
      'a scope that is missing',
      { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' } },
    ],
  ])('is not meant by %s, which changes nothing', async (_name, answer) => {
    const reply = await logInAt('claims');
    answerUser(answer);
    expect((await withProvider(reply.body.refresh_token)).status).toBe(200);
    expect(await rolesOf(reply)).toEqual(['developer']);
    expect(errorOf(await logInAt('claims'))).toEqual([502, 'provider_error']);
  });
});

test('a description of the user that is no JSON is the provider’s fault', async () => {
  answerUser({ body: 'a page', headers: { 'content-type': 'text/html' } });
  const { status, body } = await logInAt('claims');
  expect(status).toBe(502);
  expect(body.error).toMatchObject({
    code: 'provider_error',
    message: 'the identity provider answered what is no JSON',
  });
});

describe('groups in a form that cannot be read', () => {
  test.each([['developers'], [7], [{ a: 1 }], [[{ name: 'developers' }]], [[null]]])(
    'as the claim %j refuse a login and leave a session its roles',
    async (groups) => {
      const reply = await logInAt('claims');
      answerUser({ body: { ...dora, groups } });
      expect((await withProvider(reply.body.refresh_token)).status).toBe(200);
      expect(await rolesOf(reply)).toEqual(['developer']);
      expect(errorOf(await logInAt('claims'))).toEqual([502, 'provider_error']);
    },
  );

  test.each([[[null]], [[{ x: 1 }]], [{ groups: [] }]])(
    'as the list %j refuse a login and leave a session its roles',
    async (list) => {
      answerUser({ body: { ...dora, groups: undefined } });
      answerGroups([{ id: 7, full_path: 'developers' }]);
      const reply = await logInAt('lists');
      answerGroups(list);
      expect((await withProvider(reply.body.refresh_token, 'lists')).status).toBe(200);
      expect(await rolesOf(reply)).toEqual(['developer']);
      expect(errorOf(await logInAt('lists'))).toEqual([502, 'provider_error']);
    },
  );

  test.each([undefined, null])('are not meant by %j, which is none', async (groups) => {
    const reply = await logInAt('claims');
    answerUser({ body: { ...dora, groups } });
    expect((await withProvider(reply.body.refresh_token)).status).toBe(200);
    expect(await rolesOf(reply)).toEqual([]);
  });
});

describe('an answer of the token endpoint', () => {
  test.each([
    [{ scope: null }],
    [{ access_token: '' }],
    [{ expires_in: 'soon' }],
    [{ expires_in: null }],
    [{ refresh_token: null }],
  ])('with %j is the provider’s fault at a login and at a refresh', async (fields) => {
    const reply = await logInAt('claims');
    answerTokens(fields);
    expect(errorOf(await withProvider(reply.body.refresh_token))).toEqual([502, 'provider_error']);
    expect(errorOf(await logInAt('claims'))).toEqual([502, 'provider_error']);
  });

  test.each([9e12, Number.MAX_SAFE_INTEGER, 1e300])(
    'may give tokens for %d seconds, which is for ever',
    async (expiresIn) => {
      answerTokens({ expires_in: expiresIn });
      const reply = await logInAt('claims');
      expect(reply.status).toBe(200);
      const refreshed = await withProvider(reply.body.refresh_token);
      expect(refreshed.status).toBe(200);
      expect(refreshed.body.idp_token.expires_in).toBeGreaterThan(1e9);
    },
  );
});

test('a refresh takes over from a process that died while it asked the provider', async () => {
  const reply = await logInAt('claims');
  await ground.database.query(
    "update auth.identities set lease_until = now() + interval '500 ms' where subject = $1",
    [dora.sub],
  );
  const refreshed = await withProvider(reply.body.refresh_token);
  expect(refreshed.status).toBe(200);
});

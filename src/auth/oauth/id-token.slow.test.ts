import { createLocalJWKSet, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
  type Configuration,
  type CustomFetch,
} from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAuth, type RunningAuth } from '../testing.ts';
import { environmentOf, newVerifier, startProvider, visit, type TestProvider } from './testing.ts';

const clientId = 'an-app';
const state = 'state-of-the-app';
const lifetime = new Lifetime(silentLog);

let provider: TestProvider;
let auth: RunningAuth;
let config: Configuration;

beforeAll(async () => {
  provider = lifetime.own('the provider', await startProvider('gitlab'));
  const ground = lifetime.own('the ground', await openGround());
  auth = lifetime.own('auth', await startAuth(ground, { environment: environmentOf(provider) }));
  config = await clientOf(clientId);
});

afterAll(() => lifetime[Symbol.asyncDispose]());

function clientOf(id: string): Promise<Configuration> {
  return discovery(new URL(auth.url), id, undefined, None(), {
    execute: [allowInsecureRequests],
    [customFetch]: askAuth,
  });
}

/** The requests of the client, for the service that has no socket here. */
const askAuth: CustomFetch = async (url, { method, headers, body }) => {
  const { statusCode, payload } = await auth.app.inject({
    method: method === 'POST' ? 'POST' : 'GET',
    url: new URL(url).pathname,
    headers,
    ...(body instanceof URLSearchParams ? { payload: body.toString() } : {}),
  });
  const type = { 'content-type': 'application/json' };
  return new Response(payload, { status: statusCode, headers: type });
};

/** A login as a standard client makes it. */
async function logIn(scope: string, nonce?: string, client = config) {
  const { verifier, challenge } = newVerifier();
  const start = buildAuthorizationUrl(client, {
    redirect_uri: provider.callback,
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(nonce === undefined ? {} : { nonce }),
  });
  const { headers } = await auth.app.inject(`${start.pathname}${start.search}`);
  const back = new URL(provider.callback);
  const query = await visit(String(headers['location']), 'dora');
  for (const [name, value] of Object.entries(query)) back.searchParams.set(name, value);
  return authorizationCodeGrant(client, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    ...(nonce === undefined ? {} : { expectedNonce: nonce, idTokenExpected: true }),
  });
}

describe('a standard client', () => {
  test('gets an id_token for its nonce, of the user that userinfo names', async () => {
    const tokens = await logIn('openid profile', 'a-nonce');
    const claims = tokens.claims();
    expect(claims).toMatchObject({ iss: auth.url, aud: clientId, nonce: 'a-nonce' });
    expect(claims?.auth_time).toBe(claims?.iat);
    expect(claims && claims.exp - claims.iat).toBe(3600);
    const user = await fetchUserInfo(config, tokens.access_token, String(claims?.sub));
    expect(user).toMatchObject({ sub: claims?.sub, preferred_username: 'dora' });
    const keys = (await auth.call('GET', '/.well-known/jwks.json')).body;
    const { protectedHeader } = await jwtVerify(String(tokens.id_token), createLocalJWKSet(keys), {
      issuer: auth.url,
      audience: clientId,
    });
    expect(protectedHeader.alg).toBe('RS256');
  });

  test('that gave no nonce gets an id_token without one', async () => {
    expect((await logIn('openid')).claims()).not.toHaveProperty('nonce');
  });

  test('gets none without the scope openid', async () => {
    expect(await logIn('read_user')).not.toHaveProperty('id_token');
  });
});

test('a client with the name of the audience of access tokens gets no id_token', async () => {
  const { id_token: idToken, access_token: accessToken } = await logIn(
    'openid profile',
    undefined,
    await clientOf('ennead'),
  );
  expect([idToken, typeof accessToken]).toEqual([undefined, 'string']);
});

test('an id_token opens nothing and refreshes nothing', async () => {
  const { id_token: token = '' } = await logIn('openid', 'another-nonce');
  const validity = await auth.call('POST', '/api/v1/auth/validate', { body: { token } });
  expect(validity.body).toMatchObject({ valid: false, error: 'token_invalid' });
  expect((await auth.call('GET', '/api/v1/auth/userinfo', { token })).status).toBe(401);
  const body = { refresh_token: token, grant_type: 'refresh_token' };
  expect((await auth.call('POST', '/api/v1/auth/refresh', { body })).status).toBe(400);
});

test('the metadata says that revoking and introspecting take an access token', async () => {
  const { body } = await auth.call('GET', '/.well-known/openid-configuration');
  expect(body).toMatchObject({
    revocation_endpoint_auth_methods_supported: ['Bearer'],
    introspection_endpoint_auth_methods_supported: ['Bearer'],
  });
});

// A real OpenID provider (oidc-provider) in a process of its own: `node oidc-provider.mjs`, which sends
// browsers back to CALLBACK. It prints its issuer as one line of JSON once it listens. Control: POST
// /control {login, groups?, disabled?}, or {kid}: from then on it signs with another key, and knows no former one.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const clientId = 'ennead';
const clientSecret = 'ennead-secret-000000000000000000';
const callback = process.env.CALLBACK ?? 'http://127.0.0.1:9/callback';

const users = new Map(
  [
    person('alice', '1001', ['platform', 'administrators']),
    person('bob', '1002', ['developers', 'users']),
    person('carol', 'c0ffee-not-a-number', ['users']),
  ].map((claims) => [claims.preferred_username, claims]),
);

function person(login, sub, groups) {
  return {
    sub,
    preferred_username: login,
    nickname: login,
    name: `${login} at the provider`,
    email: `${login}@example.com`,
    email_verified: true,
    picture: `https://provider.example/${login}.png`,
    groups,
  };
}

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const cookieKey = randomBytes(24).toString('hex');
let provider = openProvider('provider-1');
let answer = provider.callback();

function openProvider(kid) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = privateKey.export({ format: 'jwk' });
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [callback],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    jwks: { keys: [{ ...jwk, kid, alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [cookieKey] },
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'profile', 'email'],
    claims: {
      openid: ['sub', 'groups'],
      profile: ['name', 'nickname', 'preferred_username', 'picture'],
      email: ['email', 'email_verified'],
    },
    findAccount: (_context, sub) => {
      const claims = [...users.values()].find((user) => user.sub === sub);
      return claims && { accountId: claims.stated ?? sub, claims: () => claims };
    },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    features: { devInteractions: { enabled: false }, userinfo: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 7200, AuthorizationCode: 60, IdToken: 120, RefreshToken: 86_400 },
  });
}

server.on('request', (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  const serve = pathname.startsWith('/interaction/')
    ? interact
    : pathname === '/control'
      ? control
      : answer;
  Promise.resolve(serve(request, response)).catch((error) => {
    response.statusCode = 400;
    response.end(String(error));
  });
});

async function interact(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html');
    response.end(`<form method=post><button>${prompt.name}</button></form>`);
    return;
  }
  const form = new URLSearchParams(await textOf(request));
  const finish = (result) =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  if (form.get('decision') === 'deny') {
    await finish({ error: 'access_denied', error_description: 'the user said no' });
    return;
  }
  if (prompt.name === 'login') {
    await finish({ login: { accountId: users.get(form.get('login'))?.sub } });
    return;
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(' '));
  grant.addOIDCClaims(prompt.details.missingOIDCClaims ?? []);
  await finish({ consent: { grantId: await grant.save() } });
}

async function control(request, response) {
  const { login, kid, ...changes } = JSON.parse(await textOf(request));
  if (kid) {
    provider = openProvider(kid);
    answer = provider.callback();
  }
  Object.assign(users.get(login) ?? {}, changes);
  response.end('{}');
}

async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

console.log(JSON.stringify({ url: issuer, clientId, clientSecret, callback }));

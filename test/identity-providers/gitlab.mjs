// A provider that speaks OAuth as GitLab does, in a process of its own: `node gitlab.mjs`. It prints
// its address as one line of JSON once it listens. Control: POST /control with any of {login, groups,
// sub, email, username, tokenSeconds, revoke, delayMs, readingDelayMs, readingRefused, withoutGroups,
// withoutRefresh, redirectTo, tokenFailure, visibleGroups}; GET /control tells what it saw. Below `/second`
// stands the same once more, as another GitLab of this host would.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

const clientId = 'ennead';
const clientSecret = 'gitlab secret:with/odd+signs';
const callback = 'http://127.0.0.1:9/gitlab';

const users = new Map(
  [
    { id: 42, username: 'dora', name: 'Dora', email: 'dora@example.com', groups: ['developers'] },
    { id: 43, username: 'admin', name: 'Not Admin', email: 'a@example.com', groups: ['users'] },
    { id: 44, username: 'erin', name: 'Erin', email: 'erin@example.com', groups: ['users'] },
    { id: 45, username: 'finn', name: 'Finn', email: 'finn@example.com', groups: ['users'] },
  ].map((user) => [user.username, user]),
);
const groupIds = new Map([
  ['developers', 7],
  ['users', 8],
  ['administrators', 9],
]);
const settings = {
  tokenSeconds: 7200,
  delayMs: 0,
  // How long a reading of a user takes; the token has to be good at its end.
  readingDelayMs: 0,
  withoutGroups: false,
  withoutRefresh: false,
  // Whether every token is refused where users are read.
  readingRefused: false,
  // Where every request for a token or a user is sent with 307, which keeps method and body.
  redirectTo: '',
  // How the token endpoint fails: a status, `html` or `hang-up`.
  tokenFailure: '',
  // Groups that everybody sees and nobody is a member of.
  visibleGroups: [],
};
const seen = { refreshes: 0, exchanges: 0, readings: 0 };
const codes = new Map();
const accessTokens = new Map();
const refreshTokens = new Map();

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://provider.invalid');
  serve(request, url).then(
    ({ status = 200, headers = {}, body = {} }) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      return response.end(JSON.stringify(body));
    },
    (error) => {
      response.writeHead(500);
      response.end(String(error));
    },
  );
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;

async function serve(request, { pathname, searchParams }) {
  const route = `${request.method} ${pathname.replace(/^\/second\//, '/')}`;
  if (route === 'GET /oauth/authorize') return authorize(searchParams);
  if (route === 'GET /control') return { body: seen };
  if (route === 'POST /control') return control(JSON.parse(await text(request)));
  if (settings.redirectTo) return { status: 307, headers: { location: settings.redirectTo } };
  if (route === 'POST /oauth/token') {
    const form = new URLSearchParams(await text(request));
    return settings.tokenFailure ? fail(request) : token(request, form);
  }
  return read(request, route, searchParams);
}

/** What a bearer of a token may read. */
async function read(request, route, searchParams) {
  if (route === 'GET /oauth/userinfo') seen.readings += 1;
  await new Promise((resolve) => setTimeout(resolve, settings.readingDelayMs));
  const user = users.get(accessTokens.get(bearerOf(request)));
  if (!user || settings.readingRefused) return { status: 401, body: { error: 'invalid_token' } };
  if (route === 'GET /oauth/userinfo') return { body: userInfo(user) };
  if (route === 'GET /api/v4/user') return { body: { ...user, groups: undefined } };
  if (route === 'GET /api/v4/groups') return listGroups(user, searchParams);
  return { status: 404 };
}

/** Says yes at once for the user that `login` names. */
function authorize(query) {
  const redirect = new URL(query.get('redirect_uri'));
  if (redirect.href !== callback || query.get('client_id') !== clientId) return { status: 400 };
  redirect.searchParams.set('state', query.get('state'));
  if (query.get('login') === 'nobody') redirect.searchParams.set('error', 'access_denied');
  else {
    const code = randomBytes(16).toString('hex');
    codes.set(code, {
      login: query.get('login'),
      challenge: query.get('code_challenge'),
      redirectUri: query.get('redirect_uri'),
      scope: query.get('scope'),
    });
    redirect.searchParams.set('code', code);
  }
  return { status: 302, headers: { location: redirect.href } };
}

async function token(request, form) {
  if (!isClient(request)) return { status: 401, body: { error: 'invalid_client' } };
  const refused = { status: 400, body: { error: 'invalid_grant' } };
  if (form.get('grant_type') === 'refresh_token') {
    seen.refreshes += 1;
    const held = refreshTokens.get(form.get('refresh_token'));
    refreshTokens.delete(form.get('refresh_token'));
    await new Promise((resolve) => setTimeout(resolve, settings.delayMs));
    // As GitLab does: the next token ends the last one.
    if (held) accessTokens.delete(held.access);
    return held ? issue(held) : refused;
  }
  seen.exchanges += 1;
  const code = codes.get(form.get('code'));
  codes.delete(form.get('code'));
  const challenge = createHash('sha256').update(form.get('code_verifier') ?? '');
  const isGood =
    code?.challenge === challenge.digest('base64url') &&
    code.redirectUri === form.get('redirect_uri');
  return isGood ? issue(code) : refused;
}

function fail({ socket }) {
  const { tokenFailure } = settings;
  if (tokenFailure === 'hang-up') socket.destroy();
  if (tokenFailure === 'html') return { headers: { 'content-type': 'text/html' }, body: '<p>' };
  return { status: Number(tokenFailure) || 500, headers: { location: `${url}/elsewhere` } };
}

function issue({ login, scope }) {
  const access = randomBytes(16).toString('hex');
  const refresh = randomBytes(16).toString('hex');
  accessTokens.set(access, login);
  refreshTokens.set(refresh, { login, scope, access });
  return {
    body: {
      access_token: access,
      token_type: 'Bearer',
      ...(settings.tokenSeconds ? { expires_in: settings.tokenSeconds } : {}),
      ...(settings.withoutRefresh ? {} : { refresh_token: refresh }),
      scope,
      created_at: Math.floor(Date.now() / 1000),
      // GitLab sends one with the scope openid; nobody here could check this.
      id_token: 'not.a.token',
    },
  };
}

function isClient({ headers }) {
  const [, basic = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
  const parts = Buffer.from(basic, 'base64').toString().split(':');
  const [id, secret] = parts.map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
  return id === clientId && secret === clientSecret;
}

function userInfo({ id, username, name, email, groups, sub }) {
  const claims = { sub: sub ?? String(id), nickname: username, preferred_username: username };
  return { ...claims, name, email, ...(settings.withoutGroups ? {} : { groups }) };
}

/** One group a page; without an access level those that the user only sees, too. */
function listGroups(user, query) {
  const isOwn = query.has('min_access_level');
  const groups = isOwn ? user.groups : [...user.groups, ...settings.visibleGroups];
  const page = Number(query.get('page') ?? '1');
  const path = groups[page - 1];
  const next = page < groups.length ? String(page + 1) : '';
  const body = path === undefined ? [] : [{ id: groupIds.get(path), full_path: path, name: path }];
  return { headers: { 'x-next-page': next }, body };
}

function control({ login, revoke, ...changes }) {
  for (const name of Object.keys(settings)) {
    if (changes[name] !== undefined) settings[name] = changes[name];
    delete changes[name];
  }
  if (login) Object.assign(users.get(login), changes);
  if (revoke) {
    for (const [key, held] of accessTokens) if (held === revoke) accessTokens.delete(key);
    for (const [key, held] of refreshTokens) if (held.login === revoke) refreshTokens.delete(key);
  }
  return {};
}

function bearerOf({ headers }) {
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
}

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

console.log(JSON.stringify({ url, clientId, clientSecret, callback }));

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeJwt, importPKCS8, SignJWT, type JWTPayload } from 'jose';
import {
  adminPassword,
  openGround,
  readSigningKey,
  startAuth,
  type Ground,
  type RunningAuth,
} from '../testing.ts';

interface Pair {
  access_token: string;
  refresh_token: string;
}

let ground: Ground;
let auth: RunningAuth;
let pair: Pair;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
});

beforeEach(async () => {
  pair = (await auth.login('admin', adminPassword)).body;
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

function refresh(refresh_token: string, more: Record<string, unknown> = {}, service = auth) {
  const body = { refresh_token, grant_type: 'refresh_token', ...more };
  return service.call('POST', '/api/v1/auth/refresh', { body });
}

function revoke(token: string, by: string, hint?: string) {
  const body = { token, ...(hint ? { token_type_hint: hint } : {}) };
  return auth.call('POST', '/api/v1/auth/revoke', { token: by, body });
}

test('the token address refreshes for nobody but the client of the login, and consumes nothing', async () => {
  const refreshAs = (client_id: string) =>
    auth.call('POST', '/api/v1/auth/oauth/token', {
      body: { grant_type: 'refresh_token', refresh_token: pair.refresh_token, client_id },
    });
  const refused = await refreshAs('other');
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatchObject({
    code: 'invalid_grant',
    details: { reason: 'client_mismatch' },
  });
  expect((await refreshAs('test')).status).toBe(200);
});

function sessionOf(token: string): string {
  return String(decodeJwt(token)['sid']);
}

/** Moves the last rotation of a session into the past. */
async function age(token: string, interval: string): Promise<void> {
  await ground.database.query(
    `update auth.sessions set token_issued_at = token_issued_at - $2::interval where id = $1`,
    [sessionOf(token), interval],
  );
}

async function lastEvents(count: number): Promise<string[]> {
  const token = await auth.adminToken();
  const { body } = await auth.call('GET', `/api/v1/auth/audit?limit=${count + 1}`, { token });
  return body.events.slice(1).map((event: { eventType: string }) => event.eventType);
}

async function createUser(
  roles: string[],
  username = `user${Math.random().toString(36).slice(2)}`,
) {
  const body = { username, password: 'a good password', email: 'u@example.com', name: 'U', roles };
  const token = await auth.adminToken();
  const user = (await auth.call('POST', '/api/v1/auth/users', { token, body })).body;
  const tokens: Pair = (await auth.login(username, 'a good password')).body;
  return { id: user.id as string, username, tokens };
}

async function expectDead(last: Pair): Promise<void> {
  const { status, body } = await refresh(last.refresh_token);
  expect([status, body.error.code, body.error.details.reason]).toEqual([
    400,
    'invalid_grant',
    'token_revoked',
  ]);
  expect(await auth.validity(last.access_token)).toBe('token_revoked');
  expect(await auth.validity(pair.access_token)).toBe('token_revoked');
}

/** A token as only the suite itself can sign it. */
async function signSuiteToken(claims: JWTPayload): Promise<string> {
  const { kid, pem } = await readSigningKey(ground);
  const header = { alg: 'RS256', typ: 'JWT', kid };
  return new SignJWT(claims).setProtectedHeader(header).sign(await importPKCS8(pem, 'RS256'));
}

describe('a refused refresh', () => {
  test.each([
    ['an access token', () => pair.access_token],
    ['text', () => 'x'],
    ['a changed token', () => `${pair.refresh_token.slice(0, -8)}AAAAAAAA`],
  ])('answers invalid_grant for %s', async (_, token) => {
    const { status, body, headers } = await refresh(token());
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_grant',
      details: { reason: 'token_invalid' },
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('answers unsupported_grant_type for another grant and keeps the token good', async () => {
    const { status, body } = await refresh(pair.refresh_token, { grant_type: 'password' });
    expect([status, body.error.code]).toEqual([400, 'unsupported_grant_type']);
    expect((await refresh(pair.refresh_token)).status).toBe(200);
  });

  test('answers invalid_scope for more than was granted and keeps the token good', async () => {
    const { tokens } = await createUser(['user']);
    const { status, body } = await refresh(tokens.refresh_token, {
      scope: 'agent:read auth:admin',
    });
    expect([status, body.error.code]).toEqual([400, 'invalid_scope']);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('leaves a token with what is implied by what was granted', async () => {
    const { tokens } = await createUser(['developer']);
    const { status, body } = await refresh(tokens.refresh_token, { scope: 'agent:read' });
    expect([status, decodeJwt(body.access_token)['permissions']]).toEqual([200, ['agent:read']]);
  });

  test('beyond the hour\u2019s number is refused without consuming the token', async () => {
    await using limited = await startAuth(ground, {
      environment: { AUTH_REFRESHES_PER_HOUR: '2' },
    });
    const second = await refresh(
      (await refresh(pair.refresh_token, {}, limited)).body.refresh_token,
      {},
      limited,
    );
    expect(second.headers['x-ratelimit-remaining']).toBe('0');
    const third = await refresh(second.body.refresh_token, {}, limited);
    expect(third.status).toBe(429);
    expect(third.body.error.code).toBe('rate_limit_exceeded');
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
    await ground.database.query('update auth.sessions set refreshes_full_at = now()');
    expect((await refresh(second.body.refresh_token)).status).toBe(200);
  });

  test('comes 30 days after the login however often the session was refreshed', async () => {
    const next = (await refresh(pair.refresh_token)).body;
    expect(decodeJwt(next.refresh_token).exp).toBe(decodeJwt(pair.refresh_token).exp);
    expect(decodeJwt(next.refresh_token).exp! - decodeJwt(pair.refresh_token).iat!).toBe(
      30 * 86_400,
    );
    await ground.database.query('update auth.sessions set expires_at = now() where id = $1', [
      sessionOf(pair.access_token),
    ]);
    const { status, body } = await refresh(next.refresh_token);
    expect([status, body.error.details.reason]).toEqual([400, 'token_expired']);
  });
});

describe('a refresh', () => {
  test('answers the pair of the interface and states the claims of the login', async () => {
    const { status, body, headers } = await refresh(pair.refresh_token);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'token_type',
    ]);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect(headers['cache-control']).toBe('no-store');
    const volatile = { exp: 0, iat: 0, nbf: 0, jti: '' };
    expect({ ...decodeJwt(body.access_token), ...volatile }).toEqual({
      ...decodeJwt(pair.access_token),
      ...volatile,
    });
    expect(await lastEvents(1)).toEqual(['token_refreshed']);
  });

  test('states the roles that the user has now', async () => {
    const { id, tokens } = await createUser(['developer']);
    const token = await auth.adminToken();
    await auth.call('PATCH', `/api/v1/auth/users/${id}`, { token, body: { roles: ['user'] } });
    const { body } = await refresh(tokens.refresh_token);
    expect(decodeJwt(body.access_token)).toMatchObject({
      roles: ['user'],
      permissions: ['agent:read', 'workflow:read'],
    });
  });

  test('narrows the access token to the scope that was asked for, and only that token', async () => {
    const { tokens } = await createUser(['user']);
    const narrow = (await refresh(tokens.refresh_token, { scope: 'agent:read' })).body;
    expect(decodeJwt(narrow.access_token)).toMatchObject({
      scope: 'agent:read',
      permissions: ['agent:read'],
    });
    const twice = (await refresh(narrow.refresh_token, { scope: 'agent:read agent:read' })).body;
    expect(decodeJwt(twice.access_token)['scope']).toBe('agent:read');
    const wide = (await refresh(twice.refresh_token)).body;
    expect(decodeJwt(wide.access_token)['scope']).toBe('agent:read workflow:read');
  });

  test('repeated within ten seconds answers the same successor', async () => {
    const first = (await refresh(pair.refresh_token)).body;
    await age(pair.access_token, '9 seconds');
    const second = await refresh(pair.refresh_token);
    expect(second.body.refresh_token).toBe(first.refresh_token);
    expect(await auth.validity(second.body.access_token)).toBe('valid');
    expect((await refresh(first.refresh_token)).status).toBe(200);
  });

  test('sent twenty times at once gives one successor', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => refresh(pair.refresh_token)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body.refresh_token)).size).toBe(1);
    const rows = await ground.database.query('select generation from auth.sessions where id = $1', [
      sessionOf(pair.access_token),
    ]);
    expect(rows).toEqual([{ generation: 1 }]);
  });

  test('leaves nothing in the database that is or yields a token', async () => {
    const next = (await refresh(pair.refresh_token)).body;
    const rows = await ground.database.query<{ dump: string }>(
      `select s::text || encode(coalesce(sealed_token, ''), 'escape') as dump from auth.sessions s`,
    );
    const dump = rows.map((row) => row.dump).join('\n');
    expect(dump).toContain(sessionOf(pair.access_token));
    for (const token of [pair.refresh_token, next.refresh_token]) {
      expect(dump).not.toContain(token.split('.')[1]);
      expect(dump).not.toContain(token.split('.')[2]);
    }
  });
});

describe('a refresh token used again', () => {
  test('after the grace ends the whole session, and the audit log says so', async () => {
    const next = (await refresh(pair.refresh_token)).body;
    await age(pair.access_token, '11 seconds');
    const { status, body } = await refresh(pair.refresh_token);
    expect([status, body.error.details.reason]).toEqual([400, 'token_reused']);
    expect(await lastEvents(1)).toEqual(['refresh_token_reused']);
    await expectDead(next);
  });

  test('in the same second but after its successor was used ends the session', async () => {
    const next = (await refresh(pair.refresh_token)).body;
    const last = (await refresh(next.refresh_token)).body;
    expect((await refresh(pair.refresh_token)).body.error.details.reason).toBe('token_reused');
    await expectDead(last);
  });

  test('twenty times at once after the grace is refused every time', async () => {
    await refresh(pair.refresh_token);
    await age(pair.access_token, '11 seconds');
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => refresh(pair.refresh_token)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400]));
  });
});

describe('revoking', () => {
  test('needs a token', async () => {
    const { status, body } = await auth.call('POST', '/api/v1/auth/revoke', {
      body: { token: 'x' },
    });
    expect([status, body.error.code]).toEqual([401, 'invalid_token']);
    expect(body.error.details.reason).toBe('token_missing');
  });

  test('somebody else\u2019s token is forbidden, audited, and leaves it good', async () => {
    const { tokens } = await createUser(['developer']);
    for (const token of [pair.access_token, pair.refresh_token]) {
      const { status, body } = await revoke(token, tokens.access_token);
      expect(status).toBe(403);
      expect(body.error).toMatchObject({
        type: 'authorization_error',
        code: 'insufficient_permissions',
        details: {
          required: 'auth:admin',
          userPermissions: decodeJwt(tokens.access_token)['permissions'],
        },
      });
    }
    expect(await lastEvents(2)).toEqual(['token_revocation_refused', 'token_revocation_refused']);
    expect(await auth.validity(pair.access_token)).toBe('valid');
    expect((await refresh(pair.refresh_token)).status).toBe(200);
  });

  test('what is no token is no error and revokes nothing', async () => {
    const { status, body } = await revoke('nonsense', pair.access_token, 'access_token');
    expect([status, body]).toEqual([200, { revoked: false }]);
  });

  test('an access token ends it alone, at once, also when it was cached', async () => {
    expect(await auth.validity(pair.access_token)).toBe('valid');
    const { status, body, headers } = await revoke(
      pair.access_token,
      pair.access_token,
      'access_token',
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      revoked: true,
      jti: decodeJwt(pair.access_token).jti,
      revokedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(await auth.validity(pair.access_token)).toBe('token_revoked');
    const again = await revoke(pair.access_token, pair.access_token);
    expect([again.status, again.body.error.details.reason]).toEqual([401, 'token_revoked']);
    expect((await refresh(pair.refresh_token)).status).toBe(200);
  });

  test('a token that was revoked before is no error', async () => {
    const admin = await auth.adminToken();
    await revoke(pair.access_token, admin);
    const { status, body } = await revoke(pair.access_token, admin);
    expect([status, body.revoked, body.jti]).toEqual([200, true, decodeJwt(pair.access_token).jti]);
  });

  test.each(['access', 'refresh'] as const)('an expired %s token is no error', async (use) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = decodeJwt(use === 'access' ? pair.access_token : pair.refresh_token);
    const expired = await signSuiteToken({ ...claims, exp: now - 60 });
    const { status, body } = await revoke(expired, pair.access_token);
    expect([status, body.revoked, body.jti]).toEqual([200, false, claims.jti]);
    expect(await auth.validity(pair.access_token)).toBe('valid');
  });

  test('a refresh token ends the session, whatever the hint says', async () => {
    const { status, body } = await revoke(pair.refresh_token, pair.access_token, 'access_token');
    expect([status, body.revoked, body.jti]).toEqual([
      200,
      true,
      decodeJwt(pair.refresh_token).jti,
    ]);
    expect(await auth.validity(pair.access_token)).toBe('token_revoked');
    expect((await refresh(pair.refresh_token)).body.error.details.reason).toBe('token_revoked');
  });

  test('is told to the bus and listed for those who verify', async () => {
    const heard: unknown[] = [];
    const topic = auth.host.bus.topic('revocations');
    const subscription = await topic.subscribe(({ data }) => void heard.push(data));
    await revoke(pair.access_token, pair.access_token);
    await subscription.close();
    const { jti, exp = 0 } = decodeJwt(pair.access_token);
    const token = await auth.adminToken();
    const { body } = await auth.call('GET', '/api/v1/auth/revocations?after=0', { token });
    const last = body.revocations.at(-1);
    expect(last).toMatchObject({ kind: 'token', id: jti });
    expect(last.expiresAt).toBeGreaterThanOrEqual(exp);
    expect(heard).toEqual([last]);
    const rest = await auth.call('GET', `/api/v1/auth/revocations?after=${body.next}`, { token });
    expect(rest.body).toEqual({ revocations: [], next: body.next });
  });

  test('is heeded when another replica did it', async () => {
    const now = Math.floor(Date.now() / 1000);
    const revocation = {
      kind: 'session',
      id: sessionOf(pair.access_token),
      revokedAt: now,
      expiresAt: now + 9,
    };
    await auth.host.bus.topic('revocations').publish(revocation);
    expect(await auth.validity(pair.access_token)).toBe('token_revoked');
  });
});

test('the list of revocations is closed to those who lack suite:peer', async () => {
  const { tokens } = await createUser(['developer']);
  const { status, body } = await auth.call('GET', '/api/v1/auth/revocations', {
    token: tokens.access_token,
  });
  expect([status, body.error.details.required]).toEqual([403, 'suite:peer']);
});

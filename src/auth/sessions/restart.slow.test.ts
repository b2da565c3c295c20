import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';

let ground: Ground;

beforeEach(async () => {
  ground = await openGround();
});

afterEach(async () => {
  await ground[Symbol.asyncDispose]();
});

function refresh(auth: RunningAuth, refresh_token: string) {
  const body = { refresh_token, grant_type: 'refresh_token' };
  return auth.call('POST', '/api/v1/auth/refresh', { body });
}

async function logIn(auth: RunningAuth): Promise<string> {
  return (await auth.login('admin', adminPassword)).body.refresh_token;
}

/** Has the time go by while no issuer is there: everything that happened lies so far back. */
async function passTime(interval: string): Promise<void> {
  const ago = `- '${interval}'::interval`;
  await ground.database.query(`update auth.sessions set token_issued_at = token_issued_at ${ago}`);
  await ground.database.query(`update auth.audit set occurred_at = occurred_at ${ago}`);
}

describe('a refresh whose answer was lost with the issuer', () => {
  /** What a client holds that never had the answer, and what the answer was. */
  async function loseAnswer() {
    await using auth = await startAuth(ground);
    const held = await logIn(auth);
    return { held, lost: (await refresh(auth, held)).body.refresh_token as string };
  }

  test('answers the same successor after a start that took an hour, and the session goes on', async () => {
    const { held, lost } = await loseAnswer();
    await passTime('1 hour');
    await using auth = await startAuth(ground);
    const { status, body } = await refresh(auth, held);
    expect([status, body.refresh_token]).toEqual([200, lost]);
    expect((await refresh(auth, lost)).status).toBe(200);
  });

  test('is theft once the successor was used, also after the start', async () => {
    const { held, lost } = await loseAnswer();
    await passTime('1 hour');
    await using auth = await startAuth(ground);
    const last = (await refresh(auth, lost)).body.refresh_token;
    expect((await refresh(auth, held)).body.error.details.reason).toBe('token_reused');
    expect((await refresh(auth, last)).body.error.details.reason).toBe('token_revoked');
  });
});

test('a token that gave way long before the issuer ended is theft after a start', async () => {
  const before = await startAuth(ground);
  const held = await logIn(before);
  const next = (await refresh(before, held)).body.refresh_token;
  await passTime('11 seconds');
  await logIn(before);
  await before[Symbol.asyncDispose]();
  await passTime('1 hour');
  await using auth = await startAuth(ground);
  expect((await refresh(auth, held)).body.error.details.reason).toBe('token_reused');
  expect((await refresh(auth, next)).body.error.details.reason).toBe('token_revoked');
});

test('a replica that starts while another works prolongs no grace', async () => {
  await using worker = await startAuth(ground);
  const held = await logIn(worker);
  await refresh(worker, held);
  await passTime('11 seconds');
  await logIn(worker);
  await using starter = await startAuth(ground);
  expect((await refresh(starter, held)).body.error.details.reason).toBe('token_reused');
});

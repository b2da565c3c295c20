import { decodeProtectedHeader } from 'jose';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { openTestDatabase } from '../../kit/database/testing.ts';
import { openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import { keysOf, kidOf, logIn, readHeldStates, refresh, rotate, validate } from './testing.ts';

let database: Database;
let ground: Ground;

beforeAll(async () => {
  database = await openTestDatabase();
});

beforeEach(async () => {
  ground = await openGround(database);
});

afterEach(() => ground[Symbol.asyncDispose]());

afterAll(() => database[Symbol.asyncDispose]());

/** Lets a key of a state have come into it some days earlier. */
async function age(state: string, days: number): Promise<void> {
  await database.query(
    "update auth.signing_keys set state_changed_at = now() - $1 * interval '1 day' where state = $2",
    [days, state],
  );
}

async function stateOf(kid: string): Promise<string | undefined> {
  const select = 'select state from auth.signing_keys where kid = $1';
  return (await database.query<{ state: string }>(select, [kid]))[0]?.state;
}

describe('a key that signs no more', () => {
  test('is shown for thirty days more, because its refresh tokens live that long', async () => {
    const first = await startAuth(ground);
    const pair = await logIn(first);
    const { previousKid } = (await rotate(first)).body;
    await first[Symbol.asyncDispose]();
    await age('previous', 30);
    await using service = await startAuth(ground);
    expect(await keysOf(service)).toContain(previousKid);
    expect((await refresh(service, pair.refresh_token)).status).toBe(200);
  });

  test('is retired after that, and nothing that it signed is good', async () => {
    const first = await startAuth(ground);
    const pair = await logIn(first);
    const { previousKid } = (await rotate(first)).body;
    await first[Symbol.asyncDispose]();
    await age('previous', 31.1);
    await using service = await startAuth(ground);
    expect(await stateOf(previousKid)).toBe('retired');
    expect(await keysOf(service)).not.toContain(previousKid);
    expect((await validate(service, pair.access_token)).error).toBe('token_invalid');
    expect((await refresh(service, pair.refresh_token)).status).toBe(400);
  });
});

describe('a key that has signed for ninety days', () => {
  test('is followed by the next one, once, however many replicas see it', async () => {
    const first = await startAuth(ground);
    const [active = '', pending = ''] = await keysOf(first);
    await first[Symbol.asyncDispose]();
    await age('active', 90.1);
    const both = await Promise.all([startAuth(ground), startAuth(ground)]);
    for (const service of both) {
      expect(await kidOf(service)).toBe(pending);
      expect(await keysOf(service)).toHaveLength(3);
    }
    expect(await stateOf(active)).toBe('previous');
    const events = await database.query<{ metadata: unknown }>(
      "select metadata from auth.audit where event_type = 'signing_key_rotated'",
    );
    expect(events).toHaveLength(1);
    expect(events[0]?.metadata).toMatchObject({ provider: 'schedule', kid: pending });
    for (const service of both) await service[Symbol.asyncDispose]();
  });

  test.each([
    ['before that', 89.9, {}],
    ['ever, when the days are 0', 3000, { AUTH_KEY_ROTATION_DAYS: '0' }],
  ])('is not followed %s', async (_, days, environment) => {
    const first = await startAuth(ground);
    const kids = await keysOf(first);
    await first[Symbol.asyncDispose]();
    await age('active', days);
    await using service = await startAuth(ground, { environment });
    expect(await keysOf(service)).toEqual(kids);
  });

  test('is followed earlier when fewer days are set', async () => {
    const first = await startAuth(ground);
    const [, pending] = await keysOf(first);
    await first[Symbol.asyncDispose]();
    await age('active', 8);
    await using service = await startAuth(ground, { environment: { AUTH_KEY_ROTATION_DAYS: '7' } });
    expect(await kidOf(service)).toBe(pending);
  });
});

describe('another key file', () => {
  test('ends no session, and proves refresh tokens once a key sealed under it signs', async () => {
    const secretOf = async (service: RunningAuth) =>
      String(decodeProtectedHeader((await logIn(service)).refresh_token).kid);
    const first = await startAuth(ground);
    const pair = await logIn(first);
    const kid = await kidOf(first);
    await first[Symbol.asyncDispose]();
    await writeFile(join(ground.dataFolder, 'secrets', 'key-2'), randomBytes(32));
    await using service = await startAuth(ground);
    expect(await secretOf(service)).toBe(`${kid}.key-1`);
    const kept = await refresh(service, pair.refresh_token);
    expect(kept.status).toBe(200);
    await rotate(service);
    expect(await secretOf(service)).toMatch(/\.key-1$/);
    const { kid: newest } = (await rotate(service)).body;
    expect(await secretOf(service)).toBe(`${newest}.key-2`);
    expect((await refresh(service, kept.body.refresh_token)).status).toBe(200);
  });
});

describe('a restart', () => {
  test('keeps the keys in their places', async () => {
    const first = await startAuth(ground);
    await rotate(first);
    const kids = await keysOf(first);
    await first[Symbol.asyncDispose]();
    await using service = await startAuth(ground);
    expect(await keysOf(service)).toEqual(kids);
    expect(await kidOf(service)).toBe(kids[0]);
  });

  test.each([
    ['next', 'pending', 0],
    ['active', 'active', 1],
  ])('makes up for a missing %s key and ends no token', async (_, state, at) => {
    const first = await startAuth(ground);
    const kids = await keysOf(first);
    await first[Symbol.asyncDispose]();
    await database.query('delete from auth.signing_keys where state = $1', [state]);
    await using service = await startAuth(ground);
    expect(await kidOf(service)).toBe(kids[at]);
    expect(await readHeldStates(ground)).toEqual(['active', 'pending']);
    expect(await keysOf(service)).toHaveLength(2);
  });
});

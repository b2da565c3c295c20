import { hash } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from '../testing.ts';
import { isWeakHash, Passwords } from './passwords.ts';

let ground: Ground;
let auth: RunningAuth;

beforeAll(async () => {
  ground = await openGround();
  auth = await startAuth(ground);
});

afterAll(async () => {
  await auth[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

describe('the password of the first administrator', () => {
  test.each([
    ['of seven characters', 'seven77'],
    ['of 1,025 bytes', 'x'.repeat(1025)],
    ['of 1,026 bytes in 513 characters', 'é'.repeat(513)],
  ])('keeps the service from starting when it is one %s', async (_, password) => {
    const environment = { ENNEAD_ADMIN_PASSWORD: password };
    const refused = startAuth(ground, { environment });
    await expect(refused).rejects.toThrow(/ENNEAD_ADMIN_PASSWORD must have at least 8/);
    await expect(refused).rejects.not.toThrow(password);
  });
});

describe('a stored hash', () => {
  const readHash = async () => {
    const [row] = await ground.database.query<{ password_hash: string }>(
      "select password_hash from auth.users where username = 'admin'",
    );
    return row?.password_hash ?? '';
  };

  test('that is weaker than those made today is replaced at the next login, and only then', async () => {
    const weak = await hash(adminPassword, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
    await ground.database.query('update auth.users set password_hash = $1', [weak]);
    expect((await auth.login('admin', 'wrong password')).status).toBe(401);
    expect(await readHash()).toBe(weak);
    expect((await auth.login('admin', adminPassword)).status).toBe(200);
    const strong = await readHash();
    expect(strong).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
    expect((await auth.login('admin', adminPassword)).status).toBe(200);
    expect(await readHash()).toBe(strong);
  });

  test.each([
    ['$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA', false],
    ['$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA', false],
    ['$argon2id$v=19$m=19455,t=2,p=1$c2FsdA$aGFzaA', true],
    ['$argon2id$v=19$m=19456,t=1,p=1$c2FsdA$aGFzaA', true],
    ['$argon2i$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA', true],
    ['$argon2id$m=19456,t=2,p=1$c2FsdA$aGFzaA', true],
    ['not a hash', false],
  ])('%s is weak: %s', (text, isWeak) => {
    expect(isWeakHash(text)).toBe(isWeak);
  });
});

test('a password is the same however its characters are composed, and as it was hashed before', async () => {
  const passwords = await Passwords.create();
  const [composed, apart] = ['\u00e9t\u00e9 2026', 'e\u0301te\u0301 2026'];
  for (const typed of [composed, apart]) {
    const hashed = await passwords.hash(typed);
    expect(await passwords.verify(hashed, composed)).toBe(true);
    expect(await passwords.verify(hashed, apart)).toBe(true);
    expect(await passwords.verify(hashed, 'ete 2026')).toBe(false);
  }
  const cheap = await hash(apart, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  expect(await passwords.verify(cheap, apart)).toBe(true);
});

test('who gives up while waiting for a turn leaves the queue, and the others get theirs', async () => {
  const passwords = await Passwords.create();
  const others = Array.from({ length: 6 }, () => passwords.verify(undefined, 'x'));
  const gone = new AbortController();
  const waiting = passwords.verify(undefined, 'x', gone.signal);
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  expect(await Promise.all(others)).toEqual(Array.from({ length: 6 }, () => false));
  expect(await passwords.verify(undefined, 'x')).toBe(false);
});

test('of a crowd everybody gets their own answer, whatever befalls the others', async () => {
  const passwords = await Passwords.create();
  const hashed = await passwords.hash('right');
  const gone = new AbortController();
  const crowd = Array.from({ length: 40 }, (_, at) => {
    if (at === 7) return passwords.verify('no hash at all', 'x').catch(() => 'broken');
    if (at === 30) return passwords.verify(hashed, 'right', gone.signal).catch(() => 'gone');
    return passwords.verify(hashed, at % 3 === 0 ? 'right' : 'wrong');
  });
  gone.abort(new Error('gone'));
  const answers = await Promise.all(crowd);
  const wrong = answers.filter((answer, at) => {
    if (at === 7) return answer !== 'broken';
    if (at === 30) return answer !== 'gone';
    return answer !== (at % 3 === 0);
  });
  expect(wrong).toEqual([]);
  expect(await passwords.verify(hashed, 'right')).toBe(true);
});

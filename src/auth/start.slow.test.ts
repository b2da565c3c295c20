import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../kit/database/database.ts';
import { openTestDatabase } from '../kit/database/testing.ts';
import { adminPassword, openGround, startAuth, type Ground, type RunningAuth } from './testing.ts';

let database: Database;
let ground: Ground;

beforeAll(async () => {
  database = await openTestDatabase();
});

beforeEach(async () => {
  ground = await openGround(database);
});

afterEach(async () => {
  await ground[Symbol.asyncDispose]();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const noPassword = { ENNEAD_ADMIN_PASSWORD: '' };

async function modeOf(...path: string[]): Promise<number> {
  return (await stat(join(ground.dataFolder, ...path))).mode & 0o777;
}

function readText(...path: string[]): Promise<string> {
  return readFile(join(ground.dataFolder, ...path), 'utf8');
}

async function keyIdOf(service: RunningAuth): Promise<string> {
  return (await service.call('GET', '/.well-known/jwks.json')).body.keys[0].kid;
}

function exchange(service: RunningAuth, api_key: string) {
  const body = { api_key: api_key.trim(), client_id: 'c' };
  return service.call('POST', '/api/v1/auth/api-key', { body });
}

function keyFile(): string {
  return join(ground.dataFolder, 'secrets', 'key-1');
}

async function countKeys(): Promise<number> {
  return (await ground.database.query('select 1 from auth.signing_keys')).length;
}

describe('the key file', () => {
  test.each([
    ['missing', () => rm(keyFile()), 'is missing'],
    ['another', () => writeFile(keyFile(), Buffer.alloc(32, 7)), 'is not the one'],
    ['cut', () => writeFile(keyFile(), Buffer.alloc(31)), 'does not hold 32 bytes'],
  ])(
    'that is %s keeps the service from starting and is not replaced',
    async (_, damage, sentence) => {
      await (await startAuth(ground))[Symbol.asyncDispose]();
      const original = await readFile(keyFile());
      await damage();
      const files = await readdir(join(ground.dataFolder, 'secrets'));
      await expect(startAuth(ground)).rejects.toThrow(sentence);
      await expect(startAuth(ground)).rejects.toThrow(keyFile());
      expect(await readdir(join(ground.dataFolder, 'secrets'))).toEqual(files);
      expect(await countKeys()).toBe(2);
      await writeFile(keyFile(), original);
      await using service = await startAuth(ground);
      expect((await service.login('admin', adminPassword)).status).toBe(200);
    },
  );

  test('holds 32 bytes that only its owner can read, and none of them is in the database', async () => {
    await using service = await startAuth(ground);
    expect((await readFile(keyFile())).length).toBe(32);
    expect(await modeOf('secrets', 'key-1')).toBe(0o600);
    expect(await modeOf('secrets')).toBe(0o700);
    const [row] = await ground.database.query<{ dump: string }>(
      'select k::text as dump from auth.signing_keys k',
    );
    expect(row?.dump).toContain(await keyIdOf(service));
    expect(row?.dump).not.toMatch(/PRIVATE|"d":/);
  });
});

describe('a restart', () => {
  test('keeps the key, the tokens, the sessions and the revocations', async () => {
    const before = await startAuth(ground);
    const kid = await keyIdOf(before);
    const kept = (await before.login('admin', adminPassword)).body;
    const ended = (await before.login('admin', adminPassword)).body;
    await before.call('POST', '/api/v1/auth/revoke', {
      token: kept.access_token,
      body: { token: ended.access_token },
    });
    await before[Symbol.asyncDispose]();

    await using after = await startAuth(ground);
    expect(await keyIdOf(after)).toBe(kid);
    const validate = (token: string) =>
      after.call('POST', '/api/v1/auth/validate', { body: { token } });
    expect((await validate(kept.access_token)).body.valid).toBe(true);
    expect((await validate(ended.access_token)).body.error).toBe('token_revoked');
    const body = { refresh_token: kept.refresh_token, grant_type: 'refresh_token' };
    const refreshed = await after.call('POST', '/api/v1/auth/refresh', { body });
    expect(decodeJwt(refreshed.body.access_token)['sid']).toBe(decodeJwt(kept.access_token)['sid']);
  });

  test('clears away what has expired and nothing else', async () => {
    const before = await startAuth(ground);
    const pairs = [];
    for (let count = 0; count < 2; count += 1) {
      pairs.push((await before.login('admin', adminPassword)).body);
    }
    const [kept, ended] = pairs;
    const refreshBody = { refresh_token: kept.refresh_token, grant_type: 'refresh_token' };
    await before.call('POST', '/api/v1/auth/refresh', { body: refreshBody });
    await before.call('POST', '/api/v1/auth/revoke', {
      token: kept.access_token,
      body: { token: ended.access_token },
    });
    await before[Symbol.asyncDispose]();
    const { sid } = decodeJwt(ended.access_token);
    const expire = 'update auth.sessions set expires_at = now() where id = $1';
    await ground.database.query(expire, [sid]);
    await ground.database.query('update auth.revocations set expires_at = 1');

    await using after = await startAuth(ground);
    expect(await ground.database.query('select id from auth.sessions')).toEqual([
      { id: decodeJwt(kept.access_token)['sid'] },
    ]);
    expect(await ground.database.query('select 1 from auth.revocations')).toEqual([]);
    const body = { token: kept.access_token };
    expect((await after.call('POST', '/api/v1/auth/validate', { body })).body.valid).toBe(true);
  });

  test('of two replicas at once on an empty database makes one key and one administrator', async () => {
    const [one, other] = await Promise.all([startAuth(ground), startAuth(ground)]);
    expect(await keyIdOf(one)).toBe(await keyIdOf(other));
    expect(await ground.database.query('select 1 from auth.users')).toHaveLength(1);
    const token = (await one.login('admin', adminPassword)).body.access_token;
    expect(
      (await other.call('POST', '/api/v1/auth/validate', { body: { token } })).body.valid,
    ).toBe(true);
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });
});

describe('the first administrator', () => {
  test('gets a generated password that is announced once and kept in a private file', async () => {
    const announced: string[] = [];
    const announce = (line: string) => void announced.push(line);
    const first = await startAuth(ground, { environment: noPassword, announce });
    const { username, password } = JSON.parse(await readText('admin.json'));
    expect(username).toBe('admin');
    expect(await modeOf('admin.json')).toBe(0o600);
    expect((await first.login(username, password)).status).toBe(200);
    expect(announced[0]).toContain(password);
    await first[Symbol.asyncDispose]();

    await using second = await startAuth(ground, { environment: noPassword, announce });
    expect(announced.filter((line) => line.includes(password))).toHaveLength(1);
    expect((await second.login(username, password)).status).toBe(200);
  });

  test('logs in with the file as it is, as the announced line does', async () => {
    const announced: string[] = [];
    await using service = await startAuth(ground, {
      environment: noPassword,
      announce: (line) => void announced.push(line),
    });
    expect(announced.at(-1)).toMatch(/^curl .*\/api\/v1\/auth\/login .*admin\.json'$/);
    const body = JSON.parse(await readText('admin.json'));
    expect((await service.call('POST', '/api/v1/auth/login', { body })).status).toBe(200);
  });

  test('gets the password that an interrupted first start had made', async () => {
    const kept = { username: 'admin', password: 'made a moment ago' };
    await writeFile(join(ground.dataFolder, 'admin.json'), JSON.stringify(kept));
    await using service = await startAuth(ground, { environment: noPassword });
    expect((await service.login(kept.username, kept.password)).status).toBe(200);
  });

  test('is who the operator names, and the password is neither kept nor announced', async () => {
    const announced: string[] = [];
    await using service = await startAuth(ground, {
      environment: { ENNEAD_ADMIN_USERNAME: 'Root' },
      announce: (line) => void announced.push(line),
    });
    expect((await service.login('root', adminPassword)).status).toBe(200);
    expect(announced.join()).not.toContain(adminPassword);
    await expect(readText('admin.json')).rejects.toThrow('ENOENT');
  });
});

describe('a service identity', () => {
  const peers = [
    { name: 'chat', url: 'http://chat.test', grants: ['mesh:communicate', 'tracer:write'] },
  ];

  test('has a key in a private file with its grants and the right to read revocations', async () => {
    await using service = await startAuth(ground, { peers });
    expect(await modeOf('service-keys')).toBe(0o700);
    expect(await modeOf('service-keys', 'chat.key')).toBe(0o600);
    const { body } = await exchange(service, await readText('service-keys', 'chat.key'));
    expect(body).toMatchObject({
      service: 'chat',
      permissions: ['mesh:communicate', 'suite:peer', 'tracer:write'],
    });
    const list = await service.call('GET', '/api/v1/auth/revocations', {
      token: body.access_token,
    });
    expect([list.status, list.body]).toEqual([200, { revocations: [], next: 0 }]);
    expect(
      (await service.call('GET', '/api/v1/auth/users', { token: body.access_token })).status,
    ).toBe(403);
  });

  test('keeps its key over a restart and follows its grants', async () => {
    await (await startAuth(ground, { peers }))[Symbol.asyncDispose]();
    const key = await readText('service-keys', 'chat.key');
    await using service = await startAuth(ground, {
      peers: [{ ...peers[0]!, grants: ['agent:read'] }],
    });
    expect(await readText('service-keys', 'chat.key')).toBe(key);
    expect((await exchange(service, key)).body.permissions).toEqual(['agent:read', 'suite:peer']);
  });

  test.each([
    ['lost', (path: string) => rm(path)],
    ['overwritten', (path: string) => writeFile(path, 'rubbish')],
    [
      'readable to others and of no use',
      async (path: string) => {
        await writeFile(path, '');
        await chmod(path, 0o644);
      },
    ],
  ])('whose file was %s gets a new key, and the old one ends', async (_, damage) => {
    const before = await startAuth(ground, { peers });
    const old = await readText('service-keys', 'chat.key');
    const token = (await exchange(before, old)).body.access_token;
    await before[Symbol.asyncDispose]();
    await damage(join(ground.dataFolder, 'service-keys', 'chat.key'));

    await using after = await startAuth(ground, { peers });
    expect((await exchange(after, old)).body.error.details.reason).toBe('api_key_revoked');
    const { body } = await after.call('POST', '/api/v1/auth/validate', { body: { token } });
    expect(body.error).toBe('token_revoked');
    expect((await exchange(after, await readText('service-keys', 'chat.key'))).status).toBe(200);
    expect(await modeOf('service-keys', 'chat.key')).toBe(0o600);
  });

  test('is not taken from another service\u2019s file', async () => {
    const both = [...peers, { name: 'mesh', url: 'http://mesh.test', grants: ['registry:write'] }];
    await (await startAuth(ground, { peers: both }))[Symbol.asyncDispose]();
    const folder = join(ground.dataFolder, 'service-keys');
    await writeFile(join(folder, 'chat.key'), await readText('service-keys', 'mesh.key'));
    await using service = await startAuth(ground, { peers: both });
    expect((await exchange(service, await readText('service-keys', 'chat.key'))).body.service).toBe(
      'chat',
    );
    expect((await exchange(service, await readText('service-keys', 'mesh.key'))).body.service).toBe(
      'mesh',
    );
  });
});

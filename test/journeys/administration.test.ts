import { generate } from 'otplib';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { askEnnead, serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let variables: Record<string, string>;
let auth: Ennead;
let url: string;

interface Asked {
  readonly input?: string;
  readonly variables?: Record<string, string>;
}

/** Runs a command with this suite's settings. */
function ask(line: string, { input = '', variables: more = {} }: Asked = {}) {
  return askEnnead(line.split(' '), { input, variables: { ...variables, ...more } });
}

/** What a command answers with `--json`; fails when it is refused. */
async function answerOf(line: string, input = '') {
  const { code, stdout, stderr } = await ask(`${line} --json`, { input });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** The one sentence with which a command is refused. */
async function refusalOf(line: string, asked: Asked = {}): Promise<string> {
  const { code, stdout, stderr } = await ask(line, asked);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
}

function post(path: string, body: object, token = ''): Promise<Response> {
  return fetch(`${url}/api/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}

async function logIn(username: string, password: string) {
  const login = { username, password, client_id: 'test', grant_type: 'password' };
  const answer = await post('login', login);
  const { access_token: token = '' } = (await answer.json()) as { access_token?: string };
  return { status: answer.status, token };
}

/** Gives a user a second factor; answers a recovery code. */
async function enrol(password: string, token: string): Promise<string> {
  const begun = await post('mfa/totp', { password }, token);
  const { secret } = (await begun.json()) as { secret: string };
  const code = await generate({ secret });
  const made = await post('mfa/totp/verify', { code }, token);
  const { recoveryCodes } = (await made.json()) as { recoveryCodes: string[] };
  return recoveryCodes[0] ?? '';
}

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, JSON.stringify(content));
  return path;
}

beforeAll(async () => {
  const [made, base] = await Promise.all([temporaryFolder(), freePortBase()]);
  folder = made;
  variables = {
    ENNEAD_DATA_DIR: join(folder.path, 'data'),
    ENNEAD_PORT_BASE: String(base),
    ENNEAD_TRACER_URL: 'http://127.0.0.1:1',
  };
  url = serviceUrl(base, 'auth');
  auth = startEnnead(['run', 'auth'], variables);
  await auth.ready;
});

afterAll(async () => {
  await auth.stop('SIGKILL');
  await folder.remove();
});

describe('administration from the command line', () => {
  test('all commands share one session, which only its owner can read', async () => {
    const { sessions } = await answerOf('sessions list');
    expect(sessions.map(({ current }: { current: boolean }) => current)).toEqual([true]);
    const file = join(variables['ENNEAD_DATA_DIR'] ?? '', 'command-session.json');
    expect((await stat(file)).mode & 0o077).toBe(0);
    await answerOf(`sessions end ${sessions[0].id}`);
    const { sessions: next } = await answerOf('sessions list');
    expect(next).toMatchObject([{ current: true }]);
    expect(next[0].id).not.toBe(sessions[0].id);
  });

  test('a password that is not that of the kept session does not get by with it', async () => {
    const refusal = await refusalOf('users list', {
      variables: { ENNEAD_ADMIN_PASSWORD: 'wrong-password' },
    });
    expect(refusal).toContain('from ENNEAD_ADMIN_PASSWORD');
    const path = join(variables['ENNEAD_DATA_DIR'] ?? '', 'command-session.json');
    const kept = await readFile(path, 'utf8');
    const admin = join(variables['ENNEAD_DATA_DIR'] ?? '', 'admin.json');
    const { password } = JSON.parse(await readFile(admin, 'utf8'));
    const { code } = await ask('users list', { variables: { ENNEAD_ADMIN_PASSWORD: password } });
    expect([code, await readFile(path, 'utf8')]).toEqual([0, kept]);
    expect(kept).not.toContain(password);
    expect(JSON.parse(kept)).toMatchObject({
      passwordHash: expect.stringMatching(/^\$argon2id\$/),
    });
  });

  test('a listing for programs is what the API answers', async () => {
    const { accessToken } = JSON.parse(
      await readFile(join(variables['ENNEAD_DATA_DIR'] ?? '', 'command-session.json'), 'utf8'),
    );
    const answer = await fetch(`${url}/api/v1/auth/users?username=admin&limit=7`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const page = await answer.json();
    expect(await answerOf('users list --name admin --limit 7')).toEqual(page);
    expect(page).toMatchObject({ total: 1, limit: 7, offset: 0 });
    for (const command of ['sessions', 'api-keys', 'keys', 'audit']) {
      const listed = await answerOf(`${command} list --limit 2`);
      expect(listed).toMatchObject({ total: expect.any(Number), limit: 2, offset: 0 });
    }
  });
});

// Each of these has its own users, keys and files, so they need not wait for each other.
describe.concurrent('at the command line', () => {
  test('what cannot be used as a credential is refused, and the sentence says where it came from', async () => {
    const nowhere = join(folder.path, 'nowhere');
    const wrong = { ENNEAD_ADMIN_USERNAME: 'root', ENNEAD_ADMIN_PASSWORD: 'wrong-password' };
    const [option, variable, password, none] = await Promise.all([
      refusalOf('users list --token nor-this'),
      refusalOf('users list', { variables: { ENNEAD_TOKEN: 'not-a-token' } }),
      refusalOf('users list', { variables: wrong }),
      refusalOf('users list', { variables: { ENNEAD_DATA_DIR: nowhere } }),
    ]);
    expect(option).toContain('from --token');
    expect(variable).toContain('from ENNEAD_TOKEN');
    expect(password).toContain('from ENNEAD_ADMIN_PASSWORD');
    expect(password).not.toContain('wrong-password');
    expect(none).toContain('set ENNEAD_TOKEN');
    await expect(stat(nowhere)).rejects.toThrow('ENOENT');
  });

  test('an address at which nothing answers is named, with what to do', async () => {
    const away = { ENNEAD_AUTH_URL: 'http://127.0.0.1:1' };
    const refusal = await refusalOf('users list', { variables: away });
    expect(refusal).toContain('auth cannot be reached at http://127.0.0.1:1');
    expect(refusal).toContain('ennead up');
  });

  test('what was mistyped is answered with what may have been meant', async () => {
    const [command, verb, option, value] = await Promise.all([
      refusalOf('user list'),
      refusalOf('users lst'),
      refusalOf('users list --jsn'),
      refusalOf('users list --limit many'),
    ]);
    expect(command).toContain('(Did you mean users?)');
    expect(verb).toContain('(Did you mean list?)');
    expect(option).toContain('(Did you mean --json?)');
    expect(value).toContain('It must be a whole number above 0.');
  });

  test('help for what is no command says so, and what may have been meant', async () => {
    const lines = [
      'help user',
      'user --help',
      'help users lst',
      'users help lst',
      'users lst --help',
    ];
    const refusals = await Promise.all(lines.map((line) => refusalOf(line)));
    for (const [index, refusal] of refusals.entries()) {
      const [wrong, meant] = index < 2 ? ['user', 'users'] : ['lst', 'list'];
      expect(refusal).toContain(`error: unknown command '${wrong}'\n(Did you mean ${meant}?)`);
    }
    const { code, stdout } = await ask('help users list');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: ennead users list')]);
  });

  test('every help shows examples and the exit codes', async () => {
    const words = ['', 'users ', 'sessions ', 'mappings apply ', 'api-keys create '];
    const helps = await Promise.all(words.map((word) => ask(`${word}--help`)));
    for (const { code, stdout } of helps) {
      expect(code).toBe(0);
      expect(stdout).toMatch(/\nExamples?:\n {2}ennead /);
      expect(stdout).toContain('Exit code: 0 when done; 1 when refused');
    }
  });

  test('a user is created, changed, shut out and deleted, by name or id', async () => {
    expect(await refusalOf('users show alice')).toContain('there is no user alice');
    const made = await answerOf('users create alice --email a@example.com --role developer');
    expect(made).toMatchObject({ username: 'alice', roles: ['developer'], disabled: false });
    expect(await logIn('alice', made.password)).toMatchObject({ status: 200 });
    await answerOf('users password ALICE --password-stdin', 'a-new-password-of-hers\n');
    expect(await logIn('alice', made.password)).toMatchObject({ status: 401 });
    expect(await logIn('alice', 'a-new-password-of-hers')).toMatchObject({ status: 200 });

    const renamed = await answerOf('users update alice --name Alice');
    expect(renamed).toMatchObject({ name: 'Alice', roles: ['developer'] });
    expect(await answerOf('users disable alice')).toMatchObject({ disabled: true });
    const listed = (await ask('users list --name ALICE')).stdout.trim().split('\n');
    expect(listed).toEqual([
      expect.stringContaining('USERNAME'),
      expect.stringMatching(/alice .*disabled/),
    ]);
    expect(await logIn('alice', 'a-new-password-of-hers')).toMatchObject({ status: 401 });
    expect(await answerOf(`users delete ${made.id}`)).toMatchObject({ deleted: true });
  });

  test('a second factor is asked for, and can be reset; all sessions of a user end at once', async () => {
    const { password } = await answerOf('users create otto --email o@example.com --role admin');
    const { token } = await logIn('otto', password);
    const recoveryCode = await enrol(password, token);
    const asOtto = {
      variables: {
        ENNEAD_DATA_DIR: join(folder.path, 'nowhere'),
        ENNEAD_ADMIN_USERNAME: 'otto',
        ENNEAD_ADMIN_PASSWORD: password,
      },
    };
    const [silent, wrong, listed] = await Promise.all([
      refusalOf('users show otto', asOtto),
      refusalOf('users show otto --otp 000000', asOtto),
      ask(`users show otto --otp ${recoveryCode}`, asOtto),
    ]);
    expect(silent).toContain('give --otp');
    expect(wrong).toContain('from ENNEAD_ADMIN_PASSWORD');
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/username +otto/) });
    expect(await answerOf('users reset-mfa otto')).toMatchObject({ reset: true });
    expect((await ask('users show otto', asOtto)).code).toBe(0);

    expect(await refusalOf('sessions end --user otto')).toContain('--all');
    expect(await answerOf('sessions end --user otto --all')).toEqual({ ended: 1 });
    expect((await ask('tokens validate', { input: token })).code).toBe(1);
    expect(await answerOf('sessions list --user otto')).toMatchObject({ sessions: [], total: 0 });
  });

  test('an API key is a credential until it is revoked, and can do what it was given alone', async () => {
    const permission = '--permission auth:admin';
    const key = await answerOf(`api-keys create nightly --service reports ${permission}`);
    const asKey = { variables: { ENNEAD_TOKEN: key.api_key } };
    const more = 'api-keys create more --service reports --permission gateway:invoke';
    expect(await refusalOf(more, asKey)).toContain('gateway:invoke');
    const listed = await ask('api-keys list', asKey);
    expect(listed.stdout).toMatch(/nightly .*good/);
    const renewed = await answerOf(`api-keys rotate ${key.id} --overlap 3600`);
    expect(renewed.api_key).not.toBe(key.api_key);
    await answerOf(`api-keys revoke ${key.id}`);
    expect(await refusalOf('users list', asKey)).toContain('from ENNEAD_TOKEN');
  });

  test('group mappings are compared before they are replaced, and a dry run changes nothing', async () => {
    const before = await answerOf('mappings show');
    const added = { idpGroup: 'acme/night', platformRole: 'night', permissions: ['chat:read'] };
    const wanted = await fileOf('mappings.json', { mappings: [...before.mappings, added] });
    const dry = await ask(`mappings apply ${wanted} --dry-run`);
    expect(dry.stdout).toContain('+ acme/night night chat:read');
    const applied = await ask(`mappings apply ${wanted}`);
    expect(applied.stdout).toContain('+ acme/night night chat:read');
    expect((await answerOf('mappings show')).mappings).toContainEqual(added);

    const broken = await fileOf('broken.json', { mappings: [{ idpGroup: 'acme/night' }] });
    expect(await refusalOf(`mappings apply ${broken}`)).toContain('/mappings/0');
  });

  test('a provider is configured with its secret from standard input, and never shows it', async () => {
    const at = (path: string) => `http://127.0.0.1:1/oauth/${path}`;
    const description = await fileOf('provider.json', {
      provider: 'git',
      config: {
        authorizationURL: at('authorize'),
        tokenURL: at('token'),
        userInfoURL: at('userinfo'),
        clientID: 'ennead',
        callbackURL: 'http://127.0.0.1:1/callback',
      },
    });
    const configure = `providers configure ${description}`;
    expect(await refusalOf(configure)).toContain('clientSecret');
    const given = await ask(`${configure} --secret-stdin`, { input: 'provider-secret\n' });
    expect(given.code, given.stderr).toBe(0);
    const listed = await ask('providers list --json');
    expect(listed.stdout).toContain('"git"');
    expect(listed.stdout).not.toContain('provider-secret');
    await answerOf('providers remove git');
  });

  test('a token from standard input is checked and revoked', async () => {
    const admin = JSON.parse(
      await readFile(join(variables['ENNEAD_DATA_DIR'] ?? '', 'admin.json'), 'utf8'),
    );
    const { token } = await logIn(admin.username, admin.password);
    expect(await answerOf('tokens validate', token)).toMatchObject({ valid: true });
    expect(await answerOf('tokens revoke', token)).toMatchObject({ revoked: true });
    const after = await ask('tokens validate', { input: token });
    expect(after).toMatchObject({ code: 1, stdout: expect.stringContaining('token_revoked') });
  });
});

describe('at last', () => {
  test('the audit log is filtered, and names what the commands did', async () => {
    const { events } = await answerOf('audit list --event user_deleted --limit 1');
    expect(events).toMatchObject([{ eventType: 'user_deleted', clientId: 'ennead' }]);
  });

  test('signing keys are rotated and revoked', async () => {
    const { kid, previousKid } = await answerOf('keys rotate');
    const { keys } = await answerOf('keys list');
    expect(keys).toContainEqual(expect.objectContaining({ kid, state: 'active' }));
    expect(await answerOf(`keys revoke ${previousKid} --reason lost`)).toMatchObject({
      kid: previousKid,
      activeKid: kid,
    });
  });

  test('the audit log is verified while the suite runs and while it is stopped', async () => {
    const running = await answerOf('audit verify');
    expect(running).toMatchObject({ valid: true });
    await auth.stop();
    const stopped = await answerOf('audit verify');
    expect(stopped).toMatchObject({ valid: true });
    expect(stopped.checked).toBeGreaterThanOrEqual(running.checked);
    const nowhere = { ENNEAD_DATA_DIR: join(folder.path, 'nowhere') };
    expect(await refusalOf('audit verify', { variables: nowhere })).toContain('no database');
  });
});

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { authSettings } from '../../auth/config.ts';
import { processEnvironment, readConfig } from '../../kit/config.ts';
import { Fault } from '../../kit/errors.ts';
import type { SuiteConfig } from '../../suite-settings.ts';
import { askUnseen, canAsk } from './secret-input.ts';

/** What proves who administers, and the words by which an operator knows where it came from. */
export type Credential = TokenCredential | PasswordCredential;

export interface TokenCredential {
  readonly kind: 'token';
  /** An access token or an API key. */
  readonly token: string;
  readonly source: string;
}

export interface PasswordCredential {
  readonly kind: 'password';
  readonly username: string;
  readonly password: string;
  readonly source: string;
}

/**
 * The first credential that is there: `--token`, ENNEAD_TOKEN, ENNEAD_ADMIN_PASSWORD, `admin.json` in
 * the data folder, what somebody at a terminal types. Throws `unauthenticated` when there is none; a later one never stands in for an
 * earlier one that auth refuses.
 */
export async function findCredential(
  suite: SuiteConfig,
  token: string | undefined,
): Promise<Credential> {
  if (token) return { kind: 'token', token, source: '--token' };
  const known = suite.token?.reveal();
  if (known) return { kind: 'token', token: known, source: 'ENNEAD_TOKEN' };
  const path = join(resolve(suite.dataFolder), 'admin.json');
  const { username, password } = readAdministrator();
  if (password) {
    return {
      kind: 'password',
      username,
      password: password.reveal(),
      source: 'ENNEAD_ADMIN_PASSWORD',
    };
  }
  return (await passwordOfFile(path)) ?? passwordOfOperator(username, path);
}

function readAdministrator() {
  const { adminUsername: username, adminPassword: password } = authSettings;
  return readConfig({ auth: { username, password } }, processEnvironment()).auth;
}

async function passwordOfOperator(username: string, path: string): Promise<PasswordCredential> {
  if (!canAsk()) throw noCredential(path);
  const password = await askUnseen(`password of ${username}`);
  return { kind: 'password', username, password, source: 'the terminal' };
}

/** Undefined when there is no such file. */
async function passwordOfFile(path: string): Promise<PasswordCredential | undefined> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new Fault('unauthenticated', `${path} cannot be read (${cause.code})`, { cause });
  });
  if (text === undefined) return undefined;
  const { username, password } = parse(text);
  if (typeof username === 'string' && typeof password === 'string') {
    return { kind: 'password', username, password, source: path };
  }
  throw new Fault('unauthenticated', `${path} holds no username and password`);
}

function parse(text: string): { readonly username?: unknown; readonly password?: unknown } {
  try {
    // Any JSON may stand there; the caller checks both fields.
    return (JSON.parse(text) as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

function noCredential(path: string): Fault {
  return new Fault(
    'unauthenticated',
    `there is no credential: set ENNEAD_TOKEN or ENNEAD_ADMIN_PASSWORD, or set ENNEAD_DATA_DIR to the folder that holds admin.json (there is no ${path})`,
  );
}

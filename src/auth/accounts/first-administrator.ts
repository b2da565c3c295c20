import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, hasErrorCode } from '../../kit/errors.ts';
import { newSecret } from '../../kit/ids.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { AuthConfig } from '../config.ts';
import type { Passwords } from './passwords.ts';
import { adminRole } from '../roles/roles.ts';
import { writeSecretFile } from '../../kit/secrets/secret-file.ts';
import { inTransaction, lock } from '../store.ts';
import type { Sql } from '../tables.ts';
import { makeUser } from './users.ts';
import { countUsersWithRole, findUserByName, insertUser } from './user-store.ts';

export interface FirstAdministratorOptions {
  readonly sql: Sql;
  readonly config: Pick<AuthConfig, 'adminUsername' | 'adminPassword'>;
  readonly dataFolder: string;
  /** Auth's own address. */
  readonly url: string;
  readonly passwords: Passwords;
  readonly audit: AuditLog;
  readonly announce: (line: string) => void;
}

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** What `admin.json` holds: a whole login request, so that `curl -d @admin.json` logs in. */
interface KeptLogin extends Credentials {
  readonly grant_type: 'password';
  readonly client_id: string;
}

const passwordBytes = 18;
const givenLengthMin = 8;
const givenBytesMax = 1024;
const noOrigin = { ip: '', userAgent: '' };

/**
 * Creates an administrator when nobody has the role. A password that the operator did not give is
 * made here, kept in `admin.json` (0600), and announced; the file comes first, so that no crash
 * leaves a password that nobody knows. A given password that no user could have is refused with
 * `invalid`, even when it would not be used.
 */
export async function ensureAdministrator(options: FirstAdministratorOptions): Promise<void> {
  const { sql, passwords, audit } = options;
  requireGoodPassword(options.config);
  await inTransaction(sql, async (trx) => {
    await lock(trx, 'administrators');
    if ((await countUsersWithRole(trx, adminRole, { isDisabledCounted: true })) > 0) return;
    const credentials = await chooseCredentials(options);
    const profile = { name: 'Administrator', email: '', roles: [adminRole] };
    const user = await makeUser({ ...credentials, ...profile }, passwords);
    if (await findUserByName(trx, user.username_key)) throw nameTaken(credentials.username);
    await insertUser(trx, user);
    const facts = { targetUserId: user.id, username: user.username, roles: user.roles };
    const event = { origin: noOrigin, provider: 'suite', facts } as const;
    await audit.recordWithin(trx, { eventType: 'user_created', userId: 'suite', ...event });
  });
}

function requireGoodPassword({ adminPassword }: FirstAdministratorOptions['config']): void {
  const given = adminPassword?.reveal();
  if (given === undefined) return;
  if (given.length >= givenLengthMin && Buffer.byteLength(given) <= givenBytesMax) return;
  const message = `ENNEAD_ADMIN_PASSWORD must have at least ${givenLengthMin} characters and at most ${givenBytesMax} bytes`;
  throw new Fault('invalid', message, { reason: 'bad_setting' });
}

async function chooseCredentials(options: FirstAdministratorOptions): Promise<Credentials> {
  const { config, dataFolder, announce } = options;
  const username = config.adminUsername;
  if (config.adminPassword) return { username, password: config.adminPassword.reveal() };
  const path = keptPath(dataFolder);
  const kept = await readCredentials(path);
  const credentials =
    kept?.username === username ? kept : { username, password: newSecret(passwordBytes) };
  const login: KeptLogin = { ...credentials, grant_type: 'password', client_id: 'curl' };
  await writeSecretFile(path, `${JSON.stringify(login, undefined, 2)}\n`);
  announce(`administrator ${username}, password ${credentials.password} (kept in ${path})`);
  return credentials;
}

interface AnnounceOptions extends Pick<
  FirstAdministratorOptions,
  'dataFolder' | 'url' | 'announce'
> {
  readonly config: Pick<AuthConfig, 'passwordLogin'>;
}

/** Announces a line for a shell that logs in, as long as the password is one that was made here. */
export async function announceLogin({
  config,
  dataFolder,
  url,
  announce,
}: AnnounceOptions): Promise<void> {
  const path = keptPath(dataFolder);
  const isUsable = config.passwordLogin === 'on' && (await readCredentials(path)) !== undefined;
  if (!isUsable) return announce(`curl -s ${url}/health`);
  const file = `'@${path.replaceAll("'", String.raw`'\''`)}'`;
  announce(`curl -s ${url}/api/v1/auth/login -H 'content-type: application/json' -d ${file}`);
}

function keptPath(dataFolder: string): string {
  return join(dataFolder, 'admin.json');
}

/** What an earlier start made; undefined when there is no such file, or nothing usable in it. */
async function readCredentials(path: string): Promise<Credentials | undefined> {
  try {
    const { username, password } = JSON.parse(await readFile(path, 'utf8')) as Partial<Credentials>;
    const isUsable =
      typeof username === 'string' && typeof password === 'string' && password !== '';
    return isUsable ? { username, password } : undefined;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function nameTaken(username: string): Fault {
  return new Fault(
    'conflict',
    `nobody is an administrator, and ${username} is another user: set ENNEAD_ADMIN_USERNAME to a new name`,
  );
}

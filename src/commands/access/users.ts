import { Command } from 'commander';
import type { authContract } from '../../auth/contract.ts';
import type { AnswerOf } from '../../kit/contract.ts';
import { Fault } from '../../kit/errors.ts';
import { newSecret } from '../../kit/ids.ts';
import { addCommand, administer, show } from '../operator/administration.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import type { AuthClient } from '../operator/auth-session.ts';
import { printFacts, printLine, printTable, type Column } from '../output.ts';
import { parseCount, readItems, remarkOnRest } from '../pages.ts';
import { readNewSecret } from '../operator/secret-input.ts';

type User = AnswerOf<typeof authContract.routes.readUser>;

interface ListOptions extends AdministrationOptions {
  readonly limit: number;
  readonly name?: string;
}

interface PasswordOptions extends AdministrationOptions {
  readonly passwordStdin?: boolean;
}

interface CreateOptions extends PasswordOptions {
  readonly email: string;
  readonly name: string;
  readonly role: readonly string[];
}

interface UpdateOptions extends AdministrationOptions {
  readonly email?: string;
  readonly name?: string;
  readonly role?: readonly string[];
}

const passwordBytes = 18;

/** `ennead users …`; each command takes a user's id or name. */
export function usersCommand(): Command {
  const group = new Command('users').description('administer the users of the suite');
  addReading(group);
  addMaking(group);
  addSwitching(group);
  addRecovery(group);
  return group;
}

/** The user with this id, else the one with this name; throws `not_found`. */
export async function findUser(client: AuthClient, idOrName: string): Promise<User> {
  const user = (await findUserById(client, idOrName)) ?? (await findUserByName(client, idOrName));
  if (user) return user;
  throw new Fault('not_found', `there is no user ${idOrName}; "ennead users list" shows them`);
}

async function findUserById(client: AuthClient, id: string): Promise<User | undefined> {
  if (!id.startsWith('usr_')) return undefined;
  return client.readUser({ params: { id } }).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  });
}

async function findUserByName(client: AuthClient, username: string): Promise<User | undefined> {
  const { users } = await client.listUsers({ query: { limit: 1, offset: 0, username } });
  return users[0];
}

function addReading(group: Command): void {
  addCommand(group, 'list', '--json')
    .description('list users, the newest first')
    .option('--limit <count>', 'at most so many users', parseCount, 100)
    .option('--name <username>', 'only the user of this name')
    .action((options: ListOptions) => administer(options, (client) => list(client, options)));
  addCommand(group, 'show <user>', 'alice')
    .description('show a user')
    .action((user: string, options: AdministrationOptions) =>
      administer(options, async (client) => {
        show(options, await findUser(client, user), printUser);
      }),
    );
}

async function list(client: AuthClient, options: ListOptions): Promise<void> {
  const { limit, name } = options;
  const whose = name === undefined ? {} : { username: name };
  const listed = await readItems(limit, async (page) => {
    const { users, total: all } = await client.listUsers({ query: { ...page, ...whose } });
    return { items: users, total: all };
  });
  show(options, { users: listed.items, ...listed.rest }, () => {
    printTable(listed.items, columns);
    remarkOnRest(listed);
  });
}

function addMaking(group: Command): void {
  addCommand(group, 'create <username>', 'alice --email alice@example.com --role developer')
    .description('create a user; a password is made and printed once, or read')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <name>', 'name for people; the username when absent', '')
    .option('--role <role...>', 'roles, such as developer; only what you could have yourself', [])
    .option(
      '--password-stdin',
      'read the password from standard input: its first line; unseen on a terminal',
    )
    .action((username: string, options: CreateOptions) =>
      administer(options, (client) => create(client, username, options)),
    );
  addCommand(group, 'update <user>', 'alice --role developer admin')
    .description('change a user; what is not named stays as it is')
    .option('--email <address>', 'e-mail address')
    .option('--name <name>', 'name for people')
    .option('--role <role...>', 'roles, in place of those held')
    .action((user: string, options: UpdateOptions) =>
      administer(options, (client) => update(client, user, options)),
    );
  addCommand(group, 'delete <user>', 'alice')
    .description('delete a user, with sessions and API keys')
    .action((user: string, options: AdministrationOptions) =>
      administer(options, async (client) => {
        const { id, username } = await findUser(client, user);
        const answer = await client.deleteUser({ params: { id } });
        show(options, answer, () => printLine(`deleted ${username}`));
      }),
    );
}

async function create(client: AuthClient, username: string, options: CreateOptions) {
  const { email, name, role: roles } = options;
  const chosen = await choosePassword(options);
  const profile = { username, email, name: name || username, roles: [...roles] };
  const user = await client.createUser({ body: { ...profile, password: chosen.password } });
  show(options, { ...user, ...chosen.shown }, printUser);
}

async function update(client: AuthClient, idOrName: string, options: UpdateOptions) {
  const { email, name, role } = options;
  const changes = {
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { roles: [...role] }),
  };
  if (Object.keys(changes).length === 0) {
    throw new Fault('invalid', 'nothing to change: give --email, --name or --role');
  }
  const { id } = await findUser(client, idOrName);
  show(options, await client.updateUser({ params: { id }, body: changes }), printUser);
}

function addSwitching(group: Command): void {
  const add = (verb: 'enable' | 'disable', description: string) =>
    addCommand(group, `${verb} <user>`, 'alice')
      .description(description)
      .action((user: string, options: AdministrationOptions) =>
        administer(options, async (client) => {
          const { id } = await findUser(client, user);
          const body = { disabled: verb === 'disable' };
          show(options, await client.updateUser({ params: { id }, body }), printUser);
        }),
      );
  add('disable', 'shut a user out; every token and session ends at once');
  add('enable', 'let a user in again');
}

function addRecovery(group: Command): void {
  addCommand(group, 'password <user>', 'alice --password-stdin < password.txt')
    .description('set a new password, made and printed once, or read; every session ends')
    .option(
      '--password-stdin',
      'read the password from standard input: its first line; unseen on a terminal',
    )
    .action((user: string, options: PasswordOptions) =>
      administer(options, async (client) => {
        const { id } = await findUser(client, user);
        const { password, shown } = await choosePassword(options);
        const changed = await client.updateUser({ params: { id }, body: { password } });
        show(options, { ...changed, ...shown }, printUser);
      }),
    );
  addCommand(group, 'reset-mfa <user>', 'alice')
    .description("remove a user's second factor, for who has lost it")
    .action((user: string, options: AdministrationOptions) =>
      administer(options, async (client) => {
        const { id, username } = await findUser(client, user);
        const answer = await client.resetSecondFactor({ params: { id } });
        show(options, answer, () => printLine(`${username} has no second factor now`));
      }),
    );
}

/** The password to set, and as `shown` what the operator must be told of it. */
async function choosePassword({ passwordStdin }: PasswordOptions) {
  if (passwordStdin) return { password: await readNewSecret('the new password'), shown: {} };
  const password = newSecret(passwordBytes);
  return { password, shown: { password } };
}

const columns: readonly Column<User>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'USERNAME', of: ({ username }) => username },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'ROLES', of: ({ roles }) => roles.join(',') },
  { title: 'STATE', of: ({ disabled }) => (disabled ? 'disabled' : 'enabled') },
  { title: 'LAST LOGIN', of: ({ lastLoginAt }) => lastLoginAt ?? 'never' },
];

function printUser(user: User & { readonly password?: string }): void {
  const { roles, disabled, ...rest } = user;
  printFacts({ ...rest, roles: roles.join(', '), state: disabled ? 'disabled' : 'enabled' });
}

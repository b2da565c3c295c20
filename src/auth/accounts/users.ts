import { isUniqueViolation } from '../../kit/database/sql-errors.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { mayGrant } from '../../kit/permissions.ts';
import { administrationEvent, requireHeld, type Administrator } from './administrator.ts';
import { revokeUserKeys } from '../api-keys/api-key-store.ts';
import { secretSessionIds } from '../api-keys/api-key-text.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Passwords } from './passwords.ts';
import type { Revoker, Target } from '../tokens/revoker.ts';
import { hasEnabledUser, listGroupMappings } from '../roles/group-mapping-store.ts';
import { createRoleTable, type RoleTable } from '../roles/roles.ts';
import { revokeSessionsOf } from '../sessions/session-store.ts';
import { inTransaction, lock } from '../store.ts';
import type { Sql, SqlTransaction, UserRow } from '../tables.ts';
import {
  deleteUser,
  findUser,
  findUserForUpdate,
  insertUser,
  listUsers,
  updateUser,
} from './user-store.ts';
import { newUsernameKey, usernameKey } from './usernames.ts';

export interface UsersOptions {
  readonly sql: Sql;
  readonly passwords: Passwords;
  readonly roles: RoleTable;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
}

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly string[];
}

/** A page of users. */
export interface UserListing {
  readonly limit: number;
  readonly offset: number;
  readonly username?: string | undefined;
}

export type UserChanges = Partial<Omit<NewUser, 'username'>> & { readonly disabled?: boolean };

/** Administration of users. An administrator manages only who may do no more than they. */
export class Users {
  readonly #options: UsersOptions;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  /** One page; with a name only its user, whatever the case or Unicode form. */
  async list({ username, ...page }: UserListing): Promise<{ users: UserRow[]; total: number }> {
    const key = username === undefined ? undefined : usernameKey(username);
    const { users, total } = await listUsers(this.#options.sql, { ...page, usernameKey: key });
    return { users: users.map((user) => this.#withRoles(user)), total };
  }

  async read(id: string): Promise<UserRow> {
    return this.#withRoles(required(await findUser(this.#options.sql, id)));
  }

  /** Throws `conflict` when the name, whatever its case or Unicode form, is taken. */
  async create(wanted: NewUser, by: Administrator): Promise<UserRow> {
    this.#requireGrantable(wanted.roles, by);
    const user = await makeUser(wanted, this.#options.passwords);
    const { audit, sql } = this.#options;
    await inTransaction(sql, async (trx) => {
      await insertUser(trx, user);
      await audit.recordWithin(trx, administrationEvent(by, 'user_created', factsOf(user)));
    }).catch(explainInsert);
    return user;
  }

  /**
   * Changes a user. Disabling ends every token and session of theirs at once, a new password every
   * session, roles taken away every access token; roles given show in the next. Throws `conflict` for
   * roles of a user of a provider, whose groups give them.
   */
  async update(id: string, changes: UserChanges, by: Administrator): Promise<UserRow> {
    const { passwords, revoker, audit, roles } = this.#options;
    const { password, ...plain } = changes;
    if (changes.roles) this.#requireGrantable(changes.roles, by);
    const before = await this.#requireManageable(this.#options.sql, id, by);
    if (changes.roles) requireOwnRoles(before);
    const passwordHash = password === undefined ? undefined : await passwords.hash(password);
    await revoker.revoke(async (trx) => {
      const held = await this.#requireManageable(trx, id, by);
      const row = { ...plain, ...(passwordHash ? { password_hash: passwordHash } : {}) };
      const user = required(
        await updateUser(trx, id, { ...toColumns(row), updated_at: new Date() }),
      );
      await requireAdministrator(trx);
      const facts = { ...factsOf(user), changed: Object.keys(changes).toSorted() };
      await audit.recordWithin(trx, administrationEvent(by, 'user_updated', facts));
      const isRoleLost = held.roles.some((role) => !user.roles.includes(role));
      const isLess = !mayGrant(roles.permissionsOf(user), roles.permissionsOf(held));
      const isNarrowed = isRoleLost || isLess;
      return endOf(trx, user, { isNarrowed, isPasswordNew: password !== undefined });
    });
    return this.read(id);
  }

  /** Removes a user; tokens, sessions and API keys end at once. */
  async delete(id: string, by: Administrator): Promise<void> {
    const { revoker, audit } = this.#options;
    await revoker.revoke(async (trx) => {
      const user = await this.#requireManageable(trx, id, by);
      const keys = await revokeUserKeys(trx, id, new Date());
      const targets = await endOf(trx, { ...user, disabled: true });
      await deleteUser(trx, id);
      await requireAdministrator(trx);
      await audit.recordWithin(trx, administrationEvent(by, 'user_deleted', factsOf(user)));
      return [...targets, ...keys.flatMap(secretSessionIds).map(sessionTarget)];
    });
  }

  /** Who could set another's password could become them, so the other must not be mightier. */
  async #requireManageable(sql: Sql, id: string, by: Administrator): Promise<UserRow> {
    const find = sql.isTransaction ? findUserForUpdate : findUser;
    const user = required(await find(sql, id));
    requireHeld(by, this.#options.roles.permissionsOf(user));
    return user;
  }

  /** With the roles that the groups give by today's mappings. */
  #withRoles(user: UserRow): UserRow {
    return { ...user, roles: this.#options.roles.rolesOf(user) };
  }

  #requireGrantable(roles: readonly string[], by: Administrator): void {
    this.#options.roles.requireKnown(roles);
    requireHeld(by, this.#options.roles.permissionsOf({ roles, groups: null }));
  }
}

/** A new user with the password hashed; throws `invalid` for a name that could be mistaken. */
export async function makeUser(wanted: NewUser, passwords: Passwords): Promise<UserRow> {
  const key = newUsernameKey(wanted.username);
  const now = new Date();
  return {
    id: newId('usr'),
    username: wanted.username.trim(),
    username_key: key,
    email: wanted.email,
    name: wanted.name,
    password_hash: await passwords.hash(wanted.password),
    roles: [...new Set(wanted.roles)],
    groups: null,
    disabled: false,
    token_epoch: 0,
    created_at: now,
    updated_at: now,
    last_login_at: null,
  };
}

/** The columns that a change may write, and no other, whatever else came with it. */
function toColumns(changes: Omit<UserChanges, 'password'> & { readonly password_hash?: string }) {
  const { email, name, roles, disabled, password_hash } = changes;
  return {
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles: [...new Set(roles)] }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(password_hash === undefined ? {} : { password_hash }),
  };
}

/**
 * What a user loses by a change: everything when disabled, the sessions with the old password, and all
 * access tokens, those of API keys too, with permissions.
 */
async function endOf(
  trx: SqlTransaction,
  user: Pick<UserRow, 'id' | 'disabled'>,
  { isPasswordNew = false, isNarrowed = false } = {},
): Promise<Target[]> {
  const isLocked = user.disabled || isPasswordNew;
  const sessions = isLocked ? await revokeSessionsOf(trx, user.id, new Date()) : [];
  const subject: Target[] = user.disabled || isNarrowed ? [{ kind: 'subject', id: user.id }] : [];
  return [...subject, ...sessions.map(sessionTarget)];
}

function sessionTarget(id: string): Target {
  return { kind: 'session', id };
}

/** Undoes, by throwing `conflict`, what would leave the suite without an administrator. */
async function requireAdministrator(trx: SqlTransaction): Promise<void> {
  await lock(trx, 'administrators');
  const roles = createRoleTable(await listGroupMappings(trx));
  if (await hasEnabledUser(trx, roles.rolesWith('auth:admin'))) return;
  throw new Fault('conflict', 'this is the last administrator who can log in', {
    reason: 'last_administrator',
  });
}

/** Of a provider's user: that never changes, so it may be told before the change. */
function requireOwnRoles(user: UserRow): void {
  if (!user.provider) return;
  throw new Fault(
    'conflict',
    'the roles of this user come from groups: change the groups at the provider, or the mappings',
    { reason: 'roles_come_from_groups' },
  );
}

function required(user: UserRow | undefined): UserRow {
  if (user) return user;
  throw new Fault('not_found', 'there is no such user', { reason: 'user_not_found' });
}

function explainInsert(error: unknown): never {
  if (!isUniqueViolation(error, 'users_username_key')) throw error;
  throw new Fault('conflict', 'the username is taken', { reason: 'username_taken', cause: error });
}

function factsOf({ id, username, roles, disabled }: UserRow) {
  return { targetUserId: id, username, roles, disabled };
}

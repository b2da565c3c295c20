import type { Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { mayGrant, peerPermission } from '../../kit/permissions.ts';
import { administrationEvent, requireHeld, type Administrator } from '../accounts/administrator.ts';
import type { AuditLog } from '../audit/audit.ts';
import { inTransaction, lock } from '../store.ts';
import type { Sql } from '../tables.ts';
import type { Revoker } from '../tokens/revoker.ts';
import {
  hasEnabledUser,
  listGroupMappings,
  listKeyHoldersOfSources,
  listSources,
  listUsersOfSources,
  replaceGroupMappings,
  type PermissionSource,
  type SourceChoice,
} from './group-mapping-store.ts';
import {
  compareMappings,
  toMapping,
  toMappingRow,
  touchedMappings,
  type GroupMapping,
  type MappingDifference,
} from './mapping-difference.ts';
import { createRoleTable, type LiveRoleTable, type RoleHolder, type RoleTable } from './roles.ts';

export interface GroupMappingsOptions {
  readonly sql: Sql;
  readonly roles: LiveRoleTable;
  readonly audit: AuditLog;
  readonly revoker: Revoker;
  /** Tells other replicas that the mappings were changed. */
  readonly topic: Topic<MappingsChanged>;
  readonly log: Log;
}

/** Says only that something changed: each replica reads the database. */
export interface MappingsChanged {
  readonly by: string;
}

/** A user who would hold other permissions than before. */
export interface AffectedUser {
  readonly userId: string;
  readonly username: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** What a change of the mappings would do. */
export interface MappingPreview extends MappingDifference {
  /** At most 100. */
  readonly affectedUsers: readonly AffectedUser[];
  readonly affectedTotal: number;
}

const affectedUsersMax = 100;
const rereadMs = 5_000;

/** Administration of what the groups of identity providers give. */
export class GroupMappings implements AsyncDisposable {
  readonly #options: GroupMappingsOptions;
  readonly #outlet: Outlet<MappingsChanged>;
  #timer: NodeJS.Timeout | undefined;
  #closeTopic: (() => Promise<void>) | undefined;

  constructor(options: GroupMappingsOptions) {
    this.#options = options;
    const { topic, log } = options;
    this.#outlet = new Outlet({ topic, what: 'notices of changed group mappings', log });
  }

  /** Follows the changes of other replicas: told by the bus, and read every 5 s where it is silent. */
  async start(): Promise<void> {
    const subscription = await this.#options.topic.subscribe(() => this.#reload());
    this.#closeTopic = () => subscription.close();
    this.#timer = setInterval(() => this.#reload(), rereadMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#closeTopic?.();
    await this.#outlet[Symbol.asyncDispose]();
  }

  async list(): Promise<GroupMapping[]> {
    return (await listGroupMappings(this.#options.sql)).map(toMapping);
  }

  /**
   * Puts these mappings in the place of all; the next tokens follow them. Whoever has an API key and
   * may do less than before loses every access token so far: a service that is shown the key itself
   * keeps what it traded it for. Throws `forbidden` when a
   * mapping that changes, or a role of one, gives before or after what the administrator does not
   * hold, and `conflict` when nobody who is enabled could administer any more.
   */
  async replace(wanted: readonly GroupMapping[], by: Administrator): Promise<GroupMapping[]> {
    const { sql, roles, audit, revoker } = this.#options;
    const rows = rowsOf(wanted);
    const change = await inTransaction(sql, async (trx) => {
      await lock(trx, 'administrators');
      const read = await readChange(trx, wanted);
      await requireAllowed(trx, read, by);
      await replaceGroupMappings(trx, rows);
      const facts = { ...read.difference };
      await audit.recordWithin(trx, administrationEvent(by, 'group_mappings_changed', facts));
      return read;
    });
    await roles.reload();
    this.#outlet.tell({ by: by.identity.subject });
    // Not before the new mappings are in force: what is traded for next must follow them.
    await revoker.revoke(async (trx) => {
      const holders = await findNarrowedKeyHolders(trx, change);
      return holders.map((id) => ({ kind: 'subject', id }));
    });
    return this.list();
  }

  /** What `replace` would do; refuses what that would refuse, and changes nothing. */
  async preview(wanted: readonly GroupMapping[], by: Administrator): Promise<MappingPreview> {
    rowsOf(wanted);
    const { sql } = this.#options;
    const change = await readChange(sql, wanted);
    await requireAllowed(sql, change, by);
    return { ...change.difference, ...(await findAffected(sql, change)) };
  }

  #reload(): void {
    this.#options.roles.reload().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'the group mappings could not be read; trying again');
    });
  }
}

interface Change {
  readonly difference: MappingDifference;
  /** The mappings that differ, as they were and as they will be. */
  readonly touched: readonly GroupMapping[];
  /** Each group that is mapped before or after. */
  readonly mappedGroups: readonly string[];
  readonly before: RoleTable;
  readonly after: RoleTable;
}

/** The mappings as they are stored; throws `invalid` for a group that comes twice. */
function rowsOf(wanted: readonly GroupMapping[]) {
  const groups = new Set<string>();
  for (const { idpGroup, permissions } of wanted) {
    if (groups.has(idpGroup)) throw invalidMapping(`the group ${idpGroup} is mapped twice`);
    if (permissions.includes(peerPermission)) {
      throw invalidMapping(`${peerPermission} is for the services of the suite alone`);
    }
    groups.add(idpGroup);
  }
  return wanted.map(toMappingRow);
}

function invalidMapping(message: string): Fault {
  return new Fault('invalid', message, { reason: 'invalid_mapping' });
}

async function readChange(sql: Sql, wanted: readonly GroupMapping[]): Promise<Change> {
  const stored = await listGroupMappings(sql);
  const old = stored.map(toMapping);
  const difference = compareMappings(old, wanted);
  return {
    difference,
    touched: touchedMappings(difference),
    mappedGroups: groupsOf([...old, ...wanted]),
    before: createRoleTable(stored),
    after: createRoleTable(wanted.map(toMappingRow)),
  };
}

async function requireAllowed(sql: Sql, change: Change, by: Administrator): Promise<void> {
  const { touched, before, after } = change;
  const holder: RoleHolder = { roles: rolesOf(touched), groups: null };
  requireHeld(by, [
    ...touched.flatMap(({ permissions }) => permissions),
    ...before.permissionsOf(holder),
    ...after.permissionsOf(holder),
  ]);
  if (await hasEnabledUser(sql, after.rolesWith('auth:admin'))) return;
  throw new Fault('conflict', 'nobody could administer any more', {
    reason: 'last_administrator',
  });
}

/** Who holds other permissions afterwards; users are told apart by where they have theirs from. */
async function findAffected(sql: Sql, change: Change) {
  const { before, after } = change;
  const choice = choiceOf(change);
  const sources = await listSources(sql, choice);
  const permissionsOf = (source: PermissionSource) => ({
    before: before.permissionsOf(holderOf(source)),
    after: after.permissionsOf(holderOf(source)),
  });
  const affected = sources.filter((source) => isOther(permissionsOf(source)));
  const keys = affected.map(({ key }) => key);
  const users = await listUsersOfSources(sql, choice, { keys, limit: affectedUsersMax });
  return {
    affectedUsers: users.map(({ id, username, ...source }) => ({
      userId: id,
      username,
      ...permissionsOf(source),
    })),
    affectedTotal: affected.reduce((total, { users: count }) => total + count, 0),
  };
}

/** Who has an API key and may do less afterwards. */
async function findNarrowedKeyHolders(sql: Sql, change: Change): Promise<string[]> {
  const choice = choiceOf(change);
  const narrowed = (await listSources(sql, choice)).filter((source) => {
    const holder = holderOf(source);
    return !mayGrant(change.after.permissionsOf(holder), change.before.permissionsOf(holder));
  });
  const keys = narrowed.map(({ key }) => key);
  return keys.length === 0 ? [] : listKeyHoldersOfSources(sql, choice, keys);
}

/** Whom a change of the mappings reaches. */
function choiceOf({ touched, mappedGroups }: Change): SourceChoice {
  return { groups: groupsOf(touched), roles: rolesOf(touched), mappedGroups };
}

function isOther({ before, after }: Pick<AffectedUser, 'before' | 'after'>): boolean {
  return before.join(' ') !== after.join(' ');
}

function holderOf({ kind, names }: PermissionSource): RoleHolder {
  return kind === 'groups' ? { roles: [], groups: names } : { roles: names, groups: null };
}

function groupsOf(mappings: readonly GroupMapping[]): string[] {
  return [...new Set(mappings.map(({ idpGroup }) => idpGroup))];
}

function rolesOf(mappings: readonly GroupMapping[]): string[] {
  return [...new Set(mappings.map(({ platformRole }) => platformRole))];
}

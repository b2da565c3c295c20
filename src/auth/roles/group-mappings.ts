import type { Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { peerPermission } from '../../kit/permissions.ts';
import { administrationEvent, requireHeld, type Administrator } from '../accounts/administrator.ts';
import type { AuditLog } from '../audit/audit.ts';
import { inTransaction, lock } from '../store.ts';
import type { Sql } from '../tables.ts';
import {
  hasEnabledUser,
  listGroupMappings,
  listRoleSets,
  listUsersWithRoleSet,
  replaceGroupMappings,
} from './group-mapping-store.ts';
import {
  compareMappings,
  toMapping,
  toMappingRow,
  touchedRoles,
  type GroupMapping,
  type MappingDifference,
} from './mapping-difference.ts';
import { createRoleTable, type LiveRoleTable, type RoleTable } from './roles.ts';

export interface GroupMappingsOptions {
  readonly sql: Sql;
  readonly roles: LiveRoleTable;
  readonly audit: AuditLog;
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
  #timer: NodeJS.Timeout | undefined;
  #closeTopic: (() => Promise<void>) | undefined;

  constructor(options: GroupMappingsOptions) {
    this.#options = options;
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
  }

  async list(): Promise<GroupMapping[]> {
    return (await listGroupMappings(this.#options.sql)).map(toMapping);
  }

  /**
   * Puts these mappings in the place of all; the next tokens follow them. Throws `forbidden` when a
   * role that changes allows, before or after, what the administrator does not hold, and `conflict`
   * when nobody who is enabled could administer any more.
   */
  async replace(wanted: readonly GroupMapping[], by: Administrator): Promise<GroupMapping[]> {
    const { sql, roles, audit, topic, log } = this.#options;
    const rows = rowsOf(wanted);
    await inTransaction(sql, async (trx) => {
      await lock(trx, 'administrators');
      const change = await readChange(trx, wanted);
      await requireAllowed(trx, change, by);
      await replaceGroupMappings(trx, rows);
      const facts = { ...change.difference };
      await audit.recordWithin(trx, administrationEvent(by, 'group_mappings_changed', facts));
    });
    await roles.reload();
    await topic.publish({ by: by.identity.subject }).catch((error: unknown) => {
      log.error({ err: error }, 'a change of the group mappings could not be published');
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
  return {
    difference: compareMappings(stored.map(toMapping), wanted),
    before: createRoleTable(stored),
    after: createRoleTable(wanted.map(toMappingRow)),
  };
}

async function requireAllowed(sql: Sql, change: Change, by: Administrator): Promise<void> {
  const { difference, before, after } = change;
  const touched = touchedRoles(difference);
  requireHeld(by, [...before.permissionsOf(touched), ...after.permissionsOf(touched)]);
  if (await hasEnabledUser(sql, after.rolesWith('auth:admin'))) return;
  throw new Fault('conflict', 'nobody could administer any more', {
    reason: 'last_administrator',
  });
}

/** Who holds other permissions afterwards; users are told apart by their sets of roles. */
async function findAffected(sql: Sql, { difference, before, after }: Change) {
  const sets = await listRoleSets(sql, touchedRoles(difference));
  const affected = sets.filter(({ roles }) => isOther(before, after, roles));
  const keys = affected.map(({ key }) => key);
  const users = await listUsersWithRoleSet(sql, { keys, limit: affectedUsersMax });
  return {
    affectedUsers: users.map(({ id, username, roles }) => ({
      userId: id,
      username,
      before: before.permissionsOf(roles),
      after: after.permissionsOf(roles),
    })),
    affectedTotal: affected.reduce((total, set) => total + set.users, 0),
  };
}

function isOther(before: RoleTable, after: RoleTable, roles: readonly string[]): boolean {
  const [old, now] = [before.permissionsOf(roles), after.permissionsOf(roles)];
  return old.join(' ') !== now.join(' ');
}

import { recentEntries } from '../../kit/recent-entries.ts';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import { allows } from '../../kit/permissions.ts';
import { workspacesTopic } from '../events.ts';
import { agentPermissions, agentRole, permissionsOf } from './roles.ts';
import type { Member, Permission, Workspace, Workspaces } from './workspace.ts';
import {
  deleteWorkspace,
  insertWorkspace,
  listWorkspaces,
  markLeaving,
  readLeaving,
  readWorkspace,
  updateWorkspace,
  type WorkspaceSql,
} from './workspace-store.ts';

export interface DirectoryOptions {
  readonly sql: WorkspaceSql;
  readonly bus: Bus;
  readonly log: Log;
  /** Where the folders of workspaces lie. */
  readonly root: string;
  /** What only administrators may exceed for a workspace; no bound when absent. */
  readonly quotaBytes?: number;
  /** Ends and removes what belongs to a workspace that is deleted; may be called again after a crash. */
  readonly clear: (workspaceId: string) => Promise<void>;
  /** The subjects of agents, of which each may work in its own workspace alone. */
  readonly agents?: {
    readonly isAgent: (subject: string) => boolean;
    readonly workspaceOf: (subject: string) => string | undefined;
  };
}

interface WorkspaceNews {
  readonly workspaceId: string;
}

export type WorkspaceListener = (workspaceId: string) => void;

const administration = 'studio:admin';
const cachedMax = 10_000;
const attemptsMax = 5;

/** The workspaces in SQL, with those that are used in memory; other replicas are told of changes. */
export class WorkspaceDirectory implements Workspaces, AsyncDisposable {
  readonly #options: DirectoryOptions;
  readonly #topic: Topic<WorkspaceNews>;
  readonly #known = recentEntries<Workspace>(cachedMax);
  readonly #listeners = new Set<WorkspaceListener>();
  /** Counts what was heard, so that nothing older is kept. */
  #heardCount = 0;
  #subscription: Subscription | undefined;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#topic = options.bus.topic<WorkspaceNews>(workspacesTopic);
  }

  /** Hears of changes from now on, and goes on with deletions that were begun. */
  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#hear(data.workspaceId), {
      onGap: () => this.#hearAll(),
    });
    for (const { id, path } of await readLeaving(this.#options.sql)) await this.#clear(id, path);
  }

  /** Told of each workspace that changed or went, on every replica. */
  listen(listener: WorkspaceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async create(
    identity: Identity,
    { name, description, members = [], settings = {} }: Parameters<Workspaces['create']>[1],
  ): Promise<Workspace> {
    const { subject } = identity;
    this.#refuseAgent(identity);
    this.#requireQuota(identity, settings.quotaBytes);
    const id = newId('wsp');
    const path = join(this.#options.root, id);
    const nowMs = Date.now();
    const workspace: Workspace = {
      id,
      name,
      ...(description === undefined ? {} : { description }),
      ownerId: subject,
      members: withOwner(members, subject),
      path,
      settings,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await mkdir(path, { recursive: true, mode: 0o700 });
    try {
      await insertWorkspace(this.#options.sql, workspace);
    } catch (error) {
      await rm(path, { recursive: true, force: true });
      throw error;
    }
    return workspace;
  }

  async list(
    identity: Identity,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly workspaces: readonly Workspace[]; readonly total: number }> {
    const userId = mayAll(identity) ? undefined : identity.subject;
    return listWorkspaces(this.#options.sql, userId, page);
  }

  async require(identity: Identity, id: string, permission: Permission): Promise<Workspace> {
    const workspace = await this.find(id);
    const role = workspace && this.#roleOf(workspace, identity);
    if (!workspace || !role) throw workspaceNotFound(id);
    const held = heldBy(role);
    if (held.includes(permission)) return workspace;
    throw new Fault('forbidden', `a ${role} of the workspace may not do this`, {
      reason: 'insufficient_permissions',
      detail: { required: permission, userPermissions: [...held], role },
    });
  }

  allows(identity: Identity, workspace: Workspace, permission: Permission): boolean {
    const role = this.#roleOf(workspace, identity);
    return role !== undefined && heldBy(role).includes(permission);
  }

  async find(id: string): Promise<Workspace | undefined> {
    const known = this.#known.get(id);
    if (known) return known;
    const heardCount = this.#heardCount;
    const workspace = await readWorkspace(this.#options.sql, id);
    if (workspace && heardCount === this.#heardCount) this.#known.set(id, workspace);
    return workspace;
  }

  /** Members need `settings:admin`, settings `settings:edit`, the rest `workspace:write`. */
  async change(
    identity: Identity,
    id: string,
    change: Parameters<Workspaces['change']>[2],
  ): Promise<Workspace> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      this.#known.delete(id);
      const before = await this.#requireChange(identity, id, change);
      const wanted = change.settings?.quotaBytes;
      if (wanted !== before.settings.quotaBytes) this.#requireQuota(identity, wanted);
      const updatedAtMs = Math.max(Date.now(), before.updatedAtMs + 1);
      const members = withOwner(change.members ?? before.members, before.ownerId);
      const after: Workspace = { ...before, ...change, members, updatedAtMs };
      if (await updateWorkspace(this.#options.sql, after, before.updatedAtMs)) {
        await this.#tell(id);
        return after;
      }
    }
    throw new Fault('conflict', 'others change this workspace at the same time', {
      reason: 'workspace_busy',
      retryAfter: 1,
    });
  }

  async remove(identity: Identity, id: string): Promise<void> {
    const { path } = await this.require(identity, id, 'workspace:delete');
    if (!(await markLeaving(this.#options.sql, id))) throw workspaceNotFound(id);
    await this.#tell(id);
    await this.#clear(id, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
  }

  #requireQuota(identity: Identity, wanted = 0): void {
    const { quotaBytes = Number.MAX_SAFE_INTEGER } = this.#options;
    if (wanted <= quotaBytes || mayAll(identity)) return;
    throw new Fault('forbidden', `a workspace has at most ${quotaBytes} bytes here`, {
      reason: 'quota_refused',
      detail: { required: administration, userPermissions: [...identity.permissions], quotaBytes },
    });
  }

  /** Whoever spawns agents has workspaces; what they run has none of its own. */
  #refuseAgent({ subject, kind, permissions }: Identity): void {
    if (kind !== 'service' || !this.#options.agents?.isAgent(subject)) return;
    throw new Fault('forbidden', 'an agent has no workspaces of its own', {
      reason: 'insufficient_permissions',
      detail: { required: 'workspace:write', userPermissions: [...permissions] },
    });
  }

  #roleOf(workspace: Workspace, identity: Identity): Member['role'] | typeof agentRole | undefined {
    const { agents } = this.#options;
    const { subject, kind } = identity;
    if (kind !== 'service' || !agents?.isAgent(subject)) return roleOf(workspace, identity);
    return agents.workspaceOf(subject) === workspace.id ? agentRole : undefined;
  }

  async #requireChange(
    identity: Identity,
    id: string,
    { members, settings, name, description }: Parameters<Workspaces['change']>[2],
  ): Promise<Workspace> {
    const needed: Permission[] = [];
    if (members) needed.push('settings:admin');
    if (settings) needed.push('settings:edit');
    if (name !== undefined || description !== undefined) needed.push('workspace:write');
    let workspace = await this.require(identity, id, 'workspace:read');
    for (const permission of needed) workspace = await this.require(identity, id, permission);
    return workspace;
  }

  /** Its rows go last, so that a crash before finds it again. */
  async #clear(id: string, path: string): Promise<void> {
    const { sql, clear, log } = this.#options;
    try {
      await clear(id);
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      await deleteWorkspace(sql, id);
    } catch (err) {
      log.error({ err, workspaceId: id }, 'a workspace is deleted in part; the next start goes on');
    }
  }

  /** The bus tells this replica too. */
  async #tell(workspaceId: string): Promise<void> {
    this.#forget(workspaceId);
    try {
      await this.#topic.publish({ workspaceId });
    } catch (err) {
      this.#options.log.warn({ err }, 'other replicas could not be told of a workspace');
      this.#hear(workspaceId);
    }
  }

  #hear(workspaceId: string): void {
    this.#forget(workspaceId);
    for (const listener of this.#listeners) listener(workspaceId);
  }

  #forget(workspaceId: string): void {
    this.#heardCount += 1;
    this.#known.delete(workspaceId);
  }

  #hearAll(): void {
    this.#heardCount += 1;
    this.#known.clear();
  }
}

/** Fault `not_found`; also of what the caller may not see. */
export function workspaceNotFound(workspaceId: string): Fault {
  return new Fault('not_found', 'there is no such workspace', {
    reason: 'workspace_not_found',
    detail: { workspaceId },
  });
}

function mayAll({ permissions }: Identity): boolean {
  return allows(permissions, administration);
}

function roleOf({ members }: Workspace, identity: Identity): Member['role'] | undefined {
  if (mayAll(identity)) return 'Admin';
  return members.find(({ userId }) => userId === identity.subject)?.role;
}

function heldBy(role: Member['role'] | typeof agentRole): readonly Permission[] {
  return role === agentRole ? agentPermissions : permissionsOf[role];
}

/** Each user once, the last word counts; the owner stays Admin. */
function withOwner(members: readonly Member[], ownerId: string): Member[] {
  const roleBy = new Map(members.map(({ userId, role }) => [userId, role]));
  roleBy.set(ownerId, 'Admin');
  return [...roleBy].map(([userId, role]) => ({ userId, role }));
}

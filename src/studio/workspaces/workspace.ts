import type { Identity } from '../../kit/identity/identity.ts';

export type Role = 'Admin' | 'Developer' | 'Reviewer' | 'Viewer' | 'Guest';

/** What a role may do in a workspace, by the interface's groups. */
export type Permission =
  | `workspace:${'read' | 'write' | 'delete'}`
  | `agents:${'view' | 'execute' | 'configure' | 'deploy'}`
  | `code:${'read' | 'edit' | 'commit' | 'review'}`
  | `settings:${'view' | 'edit' | 'admin'}`;

export interface Member {
  readonly userId: string;
  readonly role: Role;
}

export interface WorkspaceSettings {
  /** What all files of it may take, versions not counted; the service's default when absent. */
  readonly quotaBytes?: number;
  /** What `test` tasks run, in the workspace's folder: a program and its arguments. */
  readonly testCommand?: readonly string[];
  /** What `deploy` tasks run: an id of the workflow service. */
  readonly deployWorkflow?: string;
  /** `connection__tool` names of the registry that its agents may call. */
  readonly tools?: readonly string[];
  /** What its agents ask; the gateway's choice when absent. */
  readonly model?: string;
}

export interface Workspace {
  /** `wsp_…` */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly ownerId: string;
  /** The owner is Admin and always among them. */
  readonly members: readonly Member[];
  /** Absolute: where its files lie on this machine. */
  readonly path: string;
  readonly settings: WorkspaceSettings;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * The workspaces as one identity sees them: what it is no member of does not exist for it (`not_found`,
 * `workspace_not_found`), what its role does not allow is `forbidden` with `required` and
 * `userPermissions`. Who holds `studio:admin` is Admin everywhere.
 */
export interface Workspaces {
  create(
    identity: Identity,
    given: Pick<Workspace, 'name'> &
      Partial<Pick<Workspace, 'description' | 'members' | 'settings'>>,
  ): Promise<Workspace>;
  list(
    identity: Identity,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly workspaces: readonly Workspace[]; readonly total: number }>;
  /** The workspace, if the identity may do this in it; from memory. */
  require(identity: Identity, id: string, permission: Permission): Promise<Workspace>;
  /** Whether the identity may do this in a workspace that it has. */
  allows(identity: Identity, workspace: Workspace, permission: Permission): boolean;
  /** For work of the service itself; undefined when it is gone. */
  find(id: string): Promise<Workspace | undefined>;
  change(
    identity: Identity,
    id: string,
    change: Partial<Pick<Workspace, 'name' | 'description' | 'members' | 'settings'>>,
  ): Promise<Workspace>;
  /** Stops its agents, cancels its tasks and deletes its folder. */
  remove(identity: Identity, id: string): Promise<void>;
}

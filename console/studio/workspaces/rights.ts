import { holds } from '../../session/permissions.ts';
import type { Person } from '../../session/session.ts';
import type { Role, Workspace } from '../answers.ts';

/** What somebody may do in a workspace: what to offer. The studio decides what is done. */
export interface Rights {
  readonly role: Role | undefined;
  readonly mayReadFiles: boolean;
  readonly mayEditFiles: boolean;
  readonly maySeeAgents: boolean;
  readonly mayRunAgents: boolean;
  readonly mayRename: boolean;
  /** Settings, members, and the end of the workspace. */
  readonly mayAdminister: boolean;
}

const readers: readonly Role[] = ['Admin', 'Developer', 'Reviewer', 'Viewer'];
const makers: readonly Role[] = ['Admin', 'Developer'];

/** By the role in the workspace, and by the permissions that hold everywhere. */
export function rightsIn(
  { members }: Pick<Workspace, 'members'>,
  person: Pick<Person, 'sub' | 'permissions'>,
): Rights {
  const { sub, permissions } = person;
  const role = holds(permissions, 'studio:admin')
    ? 'Admin'
    : members.find(({ userId }) => userId === sub)?.role;
  const isOneOf = (roles: readonly Role[]) => role !== undefined && roles.includes(role);
  return {
    role,
    mayReadFiles: isOneOf(readers),
    mayEditFiles: isOneOf(makers),
    maySeeAgents: isOneOf(readers) && holds(permissions, 'agent:read'),
    mayRunAgents: isOneOf(makers) && holds(permissions, 'agent:execute'),
    mayRename: isOneOf(makers),
    mayAdminister: role === 'Admin',
  };
}

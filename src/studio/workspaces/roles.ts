import type { Permission, Role } from './workspace.ts';

export const roles = ['Admin', 'Developer', 'Reviewer', 'Viewer', 'Guest'] as const;

const viewer: readonly Permission[] = ['workspace:read', 'agents:view', 'code:read'];
const reviewer: readonly Permission[] = [...viewer, 'code:review', 'settings:view'];
const developer: readonly Permission[] = [
  ...viewer,
  'settings:view',
  'workspace:write',
  'agents:execute',
  'agents:configure',
  'agents:deploy',
  'code:edit',
  'code:commit',
];
const admin: readonly Permission[] = [
  ...developer,
  'code:review',
  'workspace:delete',
  'settings:edit',
  'settings:admin',
];

/** What each role may do in a workspace. */
export const permissionsOf: Readonly<Record<Role, readonly Permission[]>> = {
  Admin: admin,
  Developer: developer,
  Reviewer: reviewer,
  Viewer: viewer,
  Guest: ['workspace:read'],
};

/** What an agent is in its own workspace. */
export const agentRole = 'Agent';

/** Its files, and nothing else of the studio. */
export const agentPermissions: readonly Permission[] = [
  'workspace:read',
  'code:read',
  'code:edit',
  'code:review',
];

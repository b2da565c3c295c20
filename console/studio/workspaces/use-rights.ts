import { usePerson } from '../../session/person.ts';
import type { Workspace } from '../answers.ts';
import { rightsIn, type Rights } from './rights.ts';

/** What who is logged in may do in a workspace. */
export function useRights(workspace: Workspace): Rights {
  const person = usePerson();
  return rightsIn(workspace, person ?? { sub: '', permissions: [] });
}

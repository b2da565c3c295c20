import { useQueryClient } from '@tanstack/react-query';
import { holds } from './permissions.ts';
import type { Person } from './session.ts';

/** Who is logged in; undefined on the login page alone. */
export function usePerson(): Person | undefined {
  return useQueryClient().getQueryData<Person>(['person']);
}

/** Whether who is logged in holds a permission, as `auth:admin`. */
export function useIsAllowed(permission: string): boolean {
  return holds(usePerson()?.permissions ?? [], permission);
}

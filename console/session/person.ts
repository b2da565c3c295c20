import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { onSessionEnd } from '../api/send.ts';
import { holds } from './permissions.ts';
import { readPerson, type Person } from './session.ts';

const personKey = ['person'];

export interface Presence {
  /** Who is logged in; null when nobody is. */
  readonly person: UseQueryResult<Person | null>;
  readonly enter: (person: Person) => void;
  /** Once the session has ended. */
  readonly leave: () => void;
}

/** Who is here, and what changes that. Nothing that somebody was shown is there for the next one. */
export function usePresence(): Presence {
  const client = useQueryClient();
  const lastId = useRef<string>(undefined);
  const person = useQuery({
    queryKey: personKey,
    queryFn: async () => (await readPerson()) ?? null,
  });
  useEffect(() => onSessionEnd(() => client.setQueryData(personKey, null)), [client]);
  const id = person.data?.sub;
  useEffect(() => {
    lastId.current = id ?? lastId.current;
  }, [id]);
  const forget = () =>
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== personKey[0] });
  return {
    person,
    enter: (found) => {
      // Whoever only has to log in again finds what they were typing.
      if (found.sub !== lastId.current) forget();
      client.setQueryData(personKey, found);
    },
    leave: () => {
      client.setQueryData(personKey, null);
      forget();
    },
  };
}

/** Who is logged in; undefined on the login page alone. */
export function usePerson(): Person | undefined {
  return useQueryClient().getQueryData<Person>(personKey);
}

/** Whether who is logged in holds a permission, as `auth:admin`. */
export function useIsAllowed(permission: string): boolean {
  return holds(usePerson()?.permissions ?? [], permission);
}

import { useQuery, useQueryClient, type Query, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { onSessionEnd } from '../api/send.ts';
import { holds } from './permissions.ts';
import { readPerson, type Person } from './session.ts';

const personKey = ['person'];

export interface Presence {
  /** Who is logged in; null when nobody is. */
  readonly person: UseQueryResult<Person | null>;
  /** The session ended while somebody was here: their work waits for them. */
  readonly hasEnded: boolean;
  readonly enter: (person: Person) => void;
  /** Once somebody has logged out. */
  readonly leave: () => void;
}

/** Who is here, and what changes that. Nothing that somebody was shown is there for the next one. */
export function usePresence(): Presence {
  const client = useQueryClient();
  const lastId = useRef<string>(undefined);
  const [hasEnded, setHasEnded] = useState(false);
  const forget = () => client.removeQueries({ predicate: isOfPerson });
  const welcome = ({ sub }: Person) => {
    // Whoever only has to log in again finds what they were doing.
    if (sub !== lastId.current) forget();
    setHasEnded(false);
  };
  const person = useQuery({
    queryKey: personKey,
    queryFn: async () => {
      const found = await readPerson();
      if (found) welcome(found);
      return found ?? client.getQueryData<Person>(personKey) ?? null;
    },
  });
  useEffect(() => onSessionEnd(() => setHasEnded(true)), []);
  const id = person.data?.sub;
  useEffect(() => {
    lastId.current = id ?? lastId.current;
  }, [id]);
  return {
    person,
    hasEnded,
    enter: (found) => {
      welcome(found);
      client.setQueryData(personKey, found);
      void client.refetchQueries({
        type: 'active',
        predicate: (query) => isOfPerson(query) && query.state.status === 'error',
      });
    },
    leave: () => {
      client.setQueryData(personKey, null);
      forget();
    },
  };
}

function isOfPerson({ queryKey }: Pick<Query, 'queryKey'>): boolean {
  return queryKey[0] !== personKey[0];
}

/** Who is logged in; undefined on the login page alone. */
export function usePerson(): Person | undefined {
  return useQueryClient().getQueryData<Person>(personKey);
}

/** Whether who is logged in holds a permission, as `auth:admin`, or one of several. */
export function useIsAllowed(needed: string | readonly string[]): boolean {
  const held = usePerson()?.permissions ?? [];
  return [needed].flat().some((permission) => holds(held, permission));
}

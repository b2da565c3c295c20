import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { knownRoles } from '../groups/known-roles.ts';

const none: readonly string[] = [];

/** The roles that there are, as boxes named `roles`. */
export function RoleField({ held = none }: { readonly held?: readonly string[] }): ReactNode {
  const mappings = useAnswer('auth', 'GET /api/v1/auth/group-mappings');
  return (
    <Answered query={mappings}>
      {({ mappings: found }) => (
        <fieldset className="stack plain">
          <legend className="field-label">Roles</legend>
          {knownRoles(found, held).map(({ name, permissions }) => (
            <label key={name} className="choice">
              <input
                type="checkbox"
                name="roles"
                value={name}
                defaultChecked={held.includes(name)}
              />
              <span>
                {name} <span className="faint">{permissions.join(', ')}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </Answered>
  );
}

import type { ReactNode } from 'react';

/** A mapping as it is typed. */
export interface MappingDraft {
  /** Stays the same while the rest is edited. */
  readonly key: string;
  readonly idpGroup: string;
  readonly platformRole: string;
  readonly permissions: string;
}

export interface MappingRowProps {
  readonly draft: MappingDraft;
  readonly onChange: (draft: MappingDraft) => void;
  readonly onRemove: () => void;
}

/** One mapping: a group, the role that it gives, and the permissions. */
export function MappingRow({ draft, onChange, onRemove }: MappingRowProps): ReactNode {
  const { idpGroup, platformRole, permissions } = draft;
  return (
    <fieldset className="mapping plain" aria-label={`Mapping of ${idpGroup || 'a new group'}`}>
      <input
        aria-label="Group"
        placeholder="Group, with its whole path"
        value={idpGroup}
        onChange={({ target }) => onChange({ ...draft, idpGroup: target.value })}
      />
      <input
        aria-label="Role"
        placeholder="Role"
        value={platformRole}
        onChange={({ target }) => onChange({ ...draft, platformRole: target.value })}
      />
      <input
        aria-label="Permissions"
        className="mono"
        placeholder="agent:read workflow:read"
        value={permissions}
        onChange={({ target }) => onChange({ ...draft, permissions: target.value })}
      />
      <button type="button" className="danger" onClick={onRemove}>
        Remove
      </button>
    </fieldset>
  );
}

import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatCount } from '../../ui/text.ts';
import type { Mapping } from '../answers.ts';

type Preview = Extract<
  Answer<'auth', 'PUT /api/v1/auth/group-mappings'>,
  { readonly dryRun: true }
>;
type AffectedUser = Preview['affectedUsers'][number];

export interface MappingPreviewProps {
  readonly preview: Preview;
  /** Those that are to be. */
  readonly mappings: readonly Mapping[];
}

/** What a change of the mappings would do, and the button that does it. */
export function MappingPreview({ preview, mappings }: MappingPreviewProps): ReactNode {
  const { added, removed, changed, affectedUsers, affectedTotal } = preview;
  const change = useChange('auth', 'PUT /api/v1/auth/group-mappings');
  return (
    <section className="card stack" aria-label="What it changes">
      <h2>What it changes</h2>
      <ul>
        {added.map((one) => (
          <li key={one.idpGroup}>New: {describe(one)}</li>
        ))}
        {removed.map((one) => (
          <li key={one.idpGroup}>Gone: {describe(one)}</li>
        ))}
        {changed.map(({ idpGroup, before, after }) => (
          <li key={idpGroup}>
            Changed: {describe(before)} becomes {describe(after)}
          </li>
        ))}
      </ul>
      <p>
        {affectedTotal === 0
          ? 'No user may do more or less by it.'
          : `${formatCount(affectedTotal)} users may do more or less by it:`}
      </p>
      {affectedUsers.length > 0 ? (
        <Table columns={columns} rows={affectedUsers} keyOf={({ userId }) => userId} />
      ) : null}
      <ChangeForm
        change={change}
        action="Apply it"
        onSubmit={() => change.mutate({ body: { mappings: [...mappings] } })}
      />
    </section>
  );
}

const columns: readonly Column<AffectedUser>[] = [
  { title: 'User', cell: ({ username }) => username },
  { title: 'May now', cell: ({ before }) => before.join(', ') },
  { title: 'May then', cell: ({ after }) => after.join(', ') },
];

function describe({ idpGroup, platformRole, permissions }: Mapping): string {
  return `${idpGroup} gives ${platformRole} (${permissions.join(', ') || 'no permissions'})`;
}

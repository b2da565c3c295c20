import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { wordsIn } from '../../ui/entry-text.ts';
import { Problem } from '../../ui/problem.tsx';
import type { Mapping } from '../answers.ts';
import { MappingPreview } from './mapping-preview.tsx';
import { MappingRow, type MappingDraft } from './mapping-row.tsx';

/** What the groups of identity providers give. */
export function GroupsTab(): ReactNode {
  const listed = useAnswer('auth', 'GET /api/v1/auth/group-mappings');
  return (
    <Answered query={listed}>
      {({ mappings }) => <MappingEditor key={JSON.stringify(mappings)} mappings={mappings} />}
    </Answered>
  );
}

/** All mappings at once, as the service takes them: first what a change would do, then the change. */
function MappingEditor({ mappings }: { readonly mappings: readonly Mapping[] }) {
  const [drafts, setDrafts] = useState(() => mappings.map(toDraft));
  const preview = useChange('auth', 'PUT /api/v1/auth/group-mappings');
  const wanted = drafts.map(fromDraft);
  const isChanged = JSON.stringify(wanted) !== JSON.stringify(mappings);
  const edit = (next: readonly MappingDraft[]) => {
    preview.reset();
    setDrafts([...next]);
  };
  const found = preview.data && 'dryRun' in preview.data ? preview.data : undefined;
  return (
    <div className="stack">
      <p className="faint">
        Users of a provider may do what the mappings of their groups give together. A role that an
        administrator gives stands for what all mappings of that role have in common.
      </p>
      {drafts.length === 0 ? <Empty title="No group gives anything" /> : null}
      {drafts.map((draft, at) => (
        <MappingRow
          key={draft.key}
          draft={draft}
          onChange={(changed) => edit(drafts.with(at, changed))}
          onRemove={() => edit(drafts.toSpliced(at, 1))}
        />
      ))}
      <div className="row wrapping">
        <button type="button" onClick={() => edit([...drafts, newDraft()])}>
          Add a mapping
        </button>
        <button type="button" disabled={!isChanged} onClick={() => edit(mappings.map(toDraft))}>
          Undo all
        </button>
        <button
          type="button"
          className="primary"
          disabled={!isChanged || preview.isPending}
          onClick={() => preview.mutate({ query: { dryRun: true }, body: { mappings: wanted } })}
        >
          Show what it changes
        </button>
      </div>
      {preview.error ? <Problem error={preview.error} /> : null}
      {found ? <MappingPreview preview={found} mappings={wanted} /> : null}
    </div>
  );
}

function newDraft(): MappingDraft {
  return { key: crypto.randomUUID(), idpGroup: '', platformRole: '', permissions: '' };
}

function toDraft({ idpGroup, platformRole, permissions }: Mapping): MappingDraft {
  return { key: idpGroup, idpGroup, platformRole, permissions: permissions.join(' ') };
}

function fromDraft({ idpGroup, platformRole, permissions }: MappingDraft): Mapping {
  return {
    idpGroup: idpGroup.trim(),
    platformRole: platformRole.trim(),
    permissions: wordsIn(permissions),
  };
}

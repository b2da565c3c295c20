import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import type { SigningKey } from '../answers.ts';

const limit = 20;

/** The keys that sign tokens. */
export function SigningKeysTab(): ReactNode {
  const [offset, setOffset] = useState(0);
  const listed = useAnswer('auth', 'GET /api/v1/auth/keys', { query: { limit, offset } });
  return (
    <div className="stack">
      <Rotation />
      <Answered query={listed}>
        {({ keys, total }) => (
          <PagedTable
            columns={columns}
            rows={keys}
            keyOf={({ kid }) => kid}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={<Empty title="There are no signing keys" />}
          />
        )}
      </Answered>
    </div>
  );
}

const tones: Readonly<Record<SigningKey['state'], Tone>> = {
  pending: 'busy',
  active: 'good',
  previous: 'neutral',
  retired: 'neutral',
  revoked: 'bad',
};

const columns: readonly Column<SigningKey>[] = [
  { title: 'Key', cell: ({ kid }) => <code>{kid}</code> },
  { title: 'State', cell: ({ state }) => <Badge state={state} tone={tones[state]} /> },
  { title: 'Since', cell: ({ stateChangedAt }) => formatAge(stateChangedAt) },
  { title: 'Made', cell: ({ createdAt }) => formatAge(createdAt) },
  { title: '', cell: (key) => (key.state === 'revoked' ? null : <Revocation signingKey={key} />) },
];

function Rotation() {
  const rotation = useChange('auth', 'POST /api/v1/auth/keys/rotate');
  return (
    <div className="row">
      <ConfirmButton
        label="Rotate now"
        title="Let the next key take over?"
        action="Rotate"
        onConfirm={() => rotation.mutateAsync({ body: {} })}
      >
        <p>No token ends: the key before stays known until the last token of it has expired.</p>
      </ConfirmButton>
      <span className="faint">Keys take turns by themselves too.</span>
    </div>
  );
}

function Revocation({ signingKey: { kid, state } }: { readonly signingKey: SigningKey }) {
  const [reason, setReason] = useState('');
  const revocation = useChange('auth', 'POST /api/v1/auth/keys/:kid/revoke');
  return (
    <ConfirmButton
      label="Revoke"
      title="Revoke this signing key?"
      action="Revoke it"
      onConfirm={() => revocation.mutateAsync({ params: { kid }, body: reason ? { reason } : {} })}
    >
      <p>
        For a key that others may know: every token that it signed ends at once.
        {state === 'active' ? ' It is the active one: all sessions end, yours too.' : ''}
      </p>
      <Field label="Reason" hint="Goes into the audit log.">
        <input value={reason} maxLength={256} onChange={({ target }) => setReason(target.value)} />
      </Field>
    </ConfirmButton>
  );
}

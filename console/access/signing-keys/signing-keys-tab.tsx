import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Field } from '../../ui/field.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Table, type Column } from '../../ui/table.tsx';
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
          <>
            <div className="wide">
              <Table columns={columns} rows={keys} keyOf={({ kid }) => kid} />
            </div>
            <Pager total={total} limit={limit} offset={offset} onMove={setOffset} />
          </>
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
  const [isAsking, setIsAsking] = useState(false);
  const rotation = useChange('auth', 'POST /api/v1/auth/keys/rotate');
  const close = () => setIsAsking(false);
  return (
    <div className="row">
      <button type="button" onClick={() => setIsAsking(true)}>
        Rotate now
      </button>
      <span className="faint">Keys take turns by themselves too.</span>
      {isAsking ? (
        <Confirmation
          title="Let the next key take over?"
          action="Rotate"
          change={rotation}
          onConfirm={() => rotation.mutate({ body: {} }, { onSuccess: close })}
          onClose={close}
        >
          <p>No token ends: the key before stays known until the last token of it has expired.</p>
        </Confirmation>
      ) : null}
    </div>
  );
}

function Revocation({ signingKey: { kid, state } }: { readonly signingKey: SigningKey }) {
  const [isAsking, setIsAsking] = useState(false);
  const [reason, setReason] = useState('');
  const revocation = useChange('auth', 'POST /api/v1/auth/keys/:kid/revoke');
  const close = () => setIsAsking(false);
  const revoke = () =>
    revocation.mutate({ params: { kid }, body: reason ? { reason } : {} }, { onSuccess: close });
  return (
    <>
      <button type="button" className="danger" onClick={() => setIsAsking(true)}>
        Revoke
      </button>
      {isAsking ? (
        <Confirmation
          title="Revoke this signing key?"
          action="Revoke it"
          change={revocation}
          onConfirm={revoke}
          onClose={close}
        >
          <p>
            For a key that others may know: every token that it signed ends at once.
            {state === 'active' ? ' It is the active one: all sessions end, yours too.' : ''}
          </p>
          <Field label="Reason" hint="Goes into the audit log.">
            <input
              value={reason}
              maxLength={256}
              onChange={({ target }) => setReason(target.value)}
            />
          </Field>
        </Confirmation>
      ) : null}
    </>
  );
}

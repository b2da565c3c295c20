import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import type { Session } from '../answers.ts';

const limit = 50;

/** The open sessions of a user; one's own when absent. */
export function SessionList({ userId }: { readonly userId?: string }): ReactNode {
  const [offset, setOffset] = useState(0);
  const listed = useAnswer('auth', 'GET /api/v1/auth/sessions', {
    query: { limit, offset, ...(userId ? { userId } : {}) },
  });
  return (
    <Answered query={listed}>
      {({ sessions, total }) => (
        <>
          <PagedTable
            columns={columns}
            rows={sessions}
            keyOf={({ id }) => id}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={<Empty title="No session is open" />}
          />
          {total > 0 ? <AllEnd {...(userId ? { userId } : {})} /> : null}
        </>
      )}
    </Answered>
  );
}

const columns: readonly Column<Session>[] = [
  {
    title: 'Client',
    cell: ({ clientId, current }) => (
      <>
        {clientId || 'none named'} {current ? <Badge state="this one" tone="good" /> : null}
      </>
    ),
  },
  { title: 'Began', cell: ({ createdAt }) => formatAge(createdAt) },
  { title: 'Last used', cell: ({ lastUsedAt }) => formatAge(lastUsedAt) },
  { title: 'Ends', cell: ({ expiresAt }) => new Date(expiresAt).toLocaleString() },
  { title: 'Id', cell: ({ id }) => <code>{id}</code> },
  { title: '', cell: (session) => <OneEnd session={session} /> },
];

function OneEnd({ session: { id, current } }: { readonly session: Session }) {
  const ending = useChange('auth', 'DELETE /api/v1/auth/sessions/:id');
  return (
    <ConfirmButton
      label="End"
      title={current ? 'End the session of this page?' : 'End this session?'}
      action="End it"
      onConfirm={() => ending.mutateAsync({ params: { id } })}
    >
      <p>
        {current
          ? 'You are logged out here.'
          : 'Whoever uses it has to log in again, within a second.'}
      </p>
    </ConfirmButton>
  );
}

/** Of one's own the one that this page has stays. */
function AllEnd({ userId }: { readonly userId?: string }) {
  const ending = useChange('auth', 'DELETE /api/v1/auth/sessions');
  const query = userId ? { userId } : ({ except: 'current' } as const);
  return (
    <div className="row">
      <ConfirmButton
        label={userId ? 'End all sessions' : 'End all other sessions'}
        action="End them"
        onConfirm={() => ending.mutateAsync({ query })}
      >
        <p>Every token of theirs ends within a second.</p>
      </ConfirmButton>
      <output className="faint">{ending.data ? `${ending.data.ended} ended` : ''}</output>
    </div>
  );
}

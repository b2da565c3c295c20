import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import type { Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import type { ApiKey } from '../answers.ts';
import { KeyChoices } from './key-choices.tsx';
import { NewKeyForm } from './new-key-form.tsx';

const limit = 50;

/** All API keys. */
export function ApiKeysTab(): ReactNode {
  const [offset, setOffset] = useState(0);
  const listed = useAnswer('auth', 'GET /api/v1/auth/api-keys', { query: { limit, offset } });
  return (
    <div className="stack">
      <div className="row">
        <ModalButton label="New API key" look="primary">
          {(close) => <NewKeyForm onClose={close} />}
        </ModalButton>
        <span className="faint">The suite’s own services have keys too: leave those alone.</span>
      </div>
      <Answered query={listed}>
        {({ apiKeys, total }) => (
          <PagedTable
            columns={columns}
            rows={apiKeys}
            keyOf={({ id }) => id}
            {...{ offset, limit, total }}
            onMove={setOffset}
            empty={
              <Empty title="There are no API keys">
                <p>A key lets a program in without a password.</p>
              </Empty>
            }
          />
        )}
      </Answered>
    </div>
  );
}

const columns: readonly Column<ApiKey>[] = [
  {
    title: 'Key',
    cell: ({ name, id }) => (
      <div className="wrap key-cell">
        {name}
        <br />
        <code className="faint">{id}</code>
      </div>
    ),
  },
  {
    title: 'Of',
    cell: ({ kind, service, ownerId }) => (
      <div className="wrap key-cell">
        {service}
        <br />
        <span className="faint">{kind === 'user' ? `acts for ${ownerId}` : 'a service'}</span>
      </div>
    ),
  },
  { title: 'Permissions', cell: ({ permissions }) => permissions.join(', ') },
  { title: 'State', cell: (key) => <KeyState apiKey={key} /> },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt ? formatAge(lastUsedAt) : 'never'),
  },
  {
    title: '',
    cell: (key) => (stateOf(key).word === 'active' ? <KeyChoices apiKey={key} /> : null),
  },
];

function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  const { word, tone } = stateOf(apiKey);
  const { expiresAt, previousExpiresAt } = apiKey;
  return (
    <>
      <Badge state={word} tone={tone} />
      {word === 'active' && expiresAt ? (
        <div className="faint">until {new Date(expiresAt).toLocaleDateString()}</div>
      ) : null}
      {word === 'active' && previousExpiresAt && !isPast(previousExpiresAt) ? (
        <div className="faint">
          an old secret until {new Date(previousExpiresAt).toLocaleString()}
        </div>
      ) : null}
    </>
  );
}

function stateOf({ revokedAt, expiresAt }: ApiKey): { readonly word: string; readonly tone: Tone } {
  if (revokedAt) return { word: 'revoked', tone: 'bad' };
  if (expiresAt && isPast(expiresAt)) return { word: 'expired', tone: 'neutral' };
  return { word: 'active', tone: 'good' };
}

function isPast(time: string): boolean {
  return Date.parse(time) < Date.now();
}

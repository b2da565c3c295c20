import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import type { Provider } from '../answers.ts';
import { ProviderDialog } from './provider-dialog.tsx';

/** The identity providers that people log in through. */
export function ProvidersTab(): ReactNode {
  const [isAdding, setIsAdding] = useState(false);
  const listed = useAnswer('auth', 'GET /api/v1/auth/oauth/providers');
  return (
    <div className="stack">
      <div className="row">
        <button type="button" className="primary" onClick={() => setIsAdding(true)}>
          Add a provider
        </button>
      </div>
      {isAdding ? <ProviderDialog onClose={() => setIsAdding(false)} /> : null}
      <Answered query={listed}>
        {({ providers }) =>
          providers.length === 0 ? (
            <Empty title="No identity provider is configured">
              <p>With one, people log in with accounts that they have already, as at GitLab.</p>
            </Empty>
          ) : (
            <div className="wide">
              <Table columns={columns} rows={providers} keyOf={({ provider }) => provider} />
            </div>
          )
        }
      </Answered>
    </div>
  );
}

const columns: readonly Column<Provider>[] = [
  { title: 'Provider', cell: ({ provider }) => provider },
  { title: 'Authorization', cell: ({ config }) => <code>{config.authorizationURL}</code> },
  { title: 'Client', cell: ({ config }) => <code>{config.clientID}</code> },
  {
    title: 'Changed',
    cell: ({ updatedAt }) => (updatedAt ? formatAge(updatedAt) : 'by the environment'),
  },
  { title: '', cell: (provider) => <ProviderChoices provider={provider} /> },
];

function ProviderChoices({ provider }: { readonly provider: Provider }) {
  const [asked, setAsked] = useState<'change' | 'delete'>();
  const deletion = useChange('auth', 'DELETE /api/v1/auth/oauth/providers/:provider');
  const close = () => setAsked(undefined);
  const params = { provider: provider.provider };
  return (
    <div className="row">
      <button type="button" onClick={() => setAsked('change')}>
        Change
      </button>
      <button type="button" className="danger" onClick={() => setAsked('delete')}>
        Delete
      </button>
      {asked === 'change' ? <ProviderDialog provider={provider} onClose={close} /> : null}
      {asked === 'delete' ? (
        <Confirmation
          title={`Delete ${provider.provider}?`}
          action="Delete the provider"
          change={deletion}
          onConfirm={() => deletion.mutate({ params }, { onSuccess: close })}
          onClose={close}
        >
          <p>Its users have no groups from their next refresh on, until they log in again.</p>
        </Confirmation>
      ) : null}
    </div>
  );
}

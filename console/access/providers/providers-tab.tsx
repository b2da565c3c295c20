import type { ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import type { Provider } from '../answers.ts';
import { ProviderForm } from './provider-form.tsx';

/** The identity providers that people log in through. */
export function ProvidersTab(): ReactNode {
  const listed = useAnswer('auth', 'GET /api/v1/auth/oauth/providers');
  return (
    <div className="stack">
      <div className="row">
        <ModalButton label="Add a provider" title="Add an identity provider" look="primary">
          {(close) => <ProviderForm onClose={close} />}
        </ModalButton>
      </div>
      <Answered query={listed}>
        {({ providers }) =>
          providers.length === 0 ? (
            <Empty title="No identity provider is configured">
              <p>With one, people log in with accounts that they have already, as at GitLab.</p>
            </Empty>
          ) : (
            <Table columns={columns} rows={providers} keyOf={({ provider }) => provider} />
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
  const { provider: name } = provider;
  const deletion = useChange('auth', 'DELETE /api/v1/auth/oauth/providers/:provider');
  return (
    <div className="row">
      <ModalButton label="Change" subject={name}>
        {(close) => <ProviderForm provider={provider} onClose={close} />}
      </ModalButton>
      <ConfirmButton
        label="Delete"
        subject={name}
        action="Delete the provider"
        onConfirm={() => deletion.mutateAsync({ params: { provider: name } })}
      >
        <p>Its users have no groups from their next refresh on, until they log in again.</p>
      </ConfirmButton>
    </div>
  );
}

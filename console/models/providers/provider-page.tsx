import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { ProviderDeletion } from './provider-deletion.tsx';
import { ProviderSettingsForm } from './provider-settings-form.tsx';
import type { Configured } from './provider-settings.ts';

/** A provider's settings; without a name those of a new one. */
export function ProviderPage({ name }: { readonly name?: string }): ReactNode {
  return (
    <div className="stack">
      <Link href="/providers">All providers</Link>
      {name === undefined ? <NewProvider /> : <KnownProvider name={name} />}
    </div>
  );
}

function NewProvider(): ReactNode {
  const [, navigate] = useLocation();
  return (
    <section className="card stack">
      <h2>Add a provider</h2>
      <ProviderSettingsForm onSaved={(saved) => navigate(`/providers/${saved}`)} />
    </section>
  );
}

function KnownProvider({ name }: { readonly name: string }): ReactNode {
  const settings = useAnswer('gateway', 'GET /api/v1/providers/:name', { params: { name } });
  return <Answered query={settings}>{(provider) => <Settings provider={provider} />}</Answered>;
}

const origins: Readonly<Record<string, string>> = {
  local: 'It is the suite’s own, and cannot be changed here.',
  environment: 'It comes from the environment; what is saved here stands before that.',
  file: 'It comes from the gateway’s file; what is saved here stands before that.',
  api: 'It was added here.',
};

function Settings({ provider }: { readonly provider: Configured }): ReactNode {
  const { name, origin, keyCount } = provider;
  return (
    <section className="card stack">
      <div className="row">
        <h2>{name}</h2>
        <div className="actions">{origin === 'api' ? <ProviderDeletion name={name} /> : null}</div>
      </div>
      <p className="faint">
        {origins[origin] ?? origin} {keyCount === 1 ? 'One key is' : `${keyCount} keys are`} stored.
      </p>
      {origin === 'local' ? null : <ProviderSettingsForm provider={provider} />}
    </section>
  );
}

import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAnswer, useChange } from '../api/answers.ts';
import { Permitted } from '../session/permitted.tsx';
import { Answered } from '../ui/answered.tsx';
import { ChangeForm } from '../ui/change-form.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Field } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';
import { ToolPicker } from './tool-picker.tsx';
import {
  draftOfServer,
  emptyDraft,
  serverOf,
  type VirtualServer,
  type VirtualServerDraft,
} from './virtual-server-draft.ts';

const listPath = '/virtual-servers';

/** Makes a virtual server (`new`), or changes the one that has the id. */
export function VirtualServerEditor({
  virtualServerId,
}: {
  readonly virtualServerId: string;
}): ReactNode {
  const isNew = virtualServerId === 'new';
  const server = useAnswer('registry', 'GET /virtual-servers/:virtualServerId', {
    params: { virtualServerId },
    isEnabled: !isNew,
  });
  const name = isNew ? 'new' : (server.data?.name ?? virtualServerId);
  return (
    <Page
      title={
        <>
          <Link href={listPath}>Virtual servers</Link> / {name}
        </>
      }
      actions={server.data ? <Removal server={server.data} /> : null}
    >
      {isNew ? (
        <Form server={undefined} />
      ) : (
        <Answered query={server}>
          {(found) => (
            <>
              <Reached server={found} />
              <Form server={found} />
            </>
          )}
        </Answered>
      )}
    </Page>
  );
}

function Removal({ server: { id, name } }: { readonly server: VirtualServer }): ReactNode {
  const [, navigate] = useLocation();
  const removal = useChange('registry', 'DELETE /virtual-servers/:virtualServerId', {
    onDone: () => navigate(listPath),
  });
  return (
    <Permitted needs="registry:write">
      <ConfirmButton
        label="Delete"
        onConfirm={() => removal.mutateAsync({ params: { virtualServerId: id } })}
      >
        Whoever uses {name} finds nothing at its address any more.
      </ConfirmButton>
    </Permitted>
  );
}

function Reached({ server: { url, offers, missing } }: { readonly server: VirtualServer }) {
  return (
    <section className="card stack" aria-label="Where it is reached">
      <div className="row">
        <code>{url}</code> <CopyButton text={url} label="Copy the address" />
      </div>
      <p className="faint flat">
        It offers now {offers.tools.length} tools, {offers.prompts.length} prompts and{' '}
        {offers.resources.length} resources: {offers.tools.join(', ') || 'none'}.
      </p>
      {missing.length > 0 ? (
        <p className="bad-text flat">Picked and not reached now: {missing.join(', ')}.</p>
      ) : null}
    </section>
  );
}

function Form({ server }: { readonly server: VirtualServer | undefined }): ReactNode {
  const [draft, setDraft] = useState(server ? draftOfServer(server) : emptyDraft);
  const [, navigate] = useLocation();
  const creation = useChange('registry', 'POST /virtual-servers');
  const replacement = useChange('registry', 'PUT /virtual-servers/:virtualServerId');
  const show = (saved: VirtualServer) => setDraft(draftOfServer(saved));
  const save = () => {
    const body = serverOf(draft);
    if (!server) {
      return creation.mutate({ body }, { onSuccess: ({ id }) => navigate(`${listPath}/${id}`) });
    }
    replacement.mutate({ params: { virtualServerId: server.id }, body }, { onSuccess: show });
  };
  const change = (part: Partial<VirtualServerDraft>) => setDraft({ ...draft, ...part });
  return (
    <Permitted needs="registry:write">
      <ChangeForm
        change={server ? replacement : creation}
        action={server ? 'Save' : 'Make it'}
        doneText="Saved"
        onSubmit={save}
      >
        <Naming draft={draft} onChange={change} />
        <ToolPicker picks={draft.tools} onChange={(tools) => change({ tools })} />
        <Others draft={draft} onChange={change} />
      </ChangeForm>
    </Permitted>
  );
}

interface PartProps {
  readonly draft: VirtualServerDraft;
  readonly onChange: (part: Partial<VirtualServerDraft>) => void;
}

function Naming({ draft, onChange }: PartProps): ReactNode {
  return (
    <section className="card stack">
      <div className="two">
        <Field label="Name" hint="the end of its address">
          <input
            required
            value={draft.name}
            onChange={({ target }) => onChange({ name: target.value })}
          />
        </Field>
        <Field label="Description">
          <input
            value={draft.description}
            onChange={({ target }) => onChange({ description: target.value })}
          />
        </Field>
      </div>
      <label className="row">
        <input
          type="checkbox"
          checked={draft.isLean}
          onChange={({ target }) => onChange({ isLean: target.checked })}
        />
        Three tools to search, describe and call stand for all
      </label>
    </section>
  );
}

function Others({ draft, onChange }: PartProps): ReactNode {
  return (
    <details className="card">
      <summary>Prompts and resources</summary>
      <div className="two">
        <Field label="Prompts" hint="server__prompt, or server__prompt as name, one on a line">
          <textarea
            className="mono"
            value={draft.prompts}
            onChange={({ target }) => onChange({ prompts: target.value })}
          />
        </Field>
        <Field
          label="Resources"
          hint="a server, or a server and the address of a resource, one on a line"
        >
          <textarea
            className="mono"
            value={draft.resources}
            onChange={({ target }) => onChange({ resources: target.value })}
          />
        </Field>
      </div>
    </details>
  );
}

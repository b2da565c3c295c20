import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { linesIn } from '../../ui/entry-text.ts';
import { Field } from '../../ui/field.tsx';
import { filled, textOf, wordsOf } from '../../ui/form-values.ts';
import type { Settings, Workspace } from '../answers.ts';
import { MemberList } from './member-list.tsx';
import { useRights } from './use-rights.ts';

/** Name, settings and members of a workspace, and its end. */
export function SettingsTab({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const { mayAdminister, mayRename } = useRights(workspace);
  const { settings } = workspace;
  return (
    <div className="columns">
      <div className="stack">
        <NameCard workspace={workspace} isEditable={mayRename} />
        <MemberList workspace={workspace} isEditable={mayAdminister} />
      </div>
      <div className="stack">
        {settings ? (
          <SettingsCard id={workspace.id} settings={settings} isEditable={mayAdminister} />
        ) : null}
        {mayAdminister ? <EndCard workspace={workspace} /> : null}
      </div>
    </div>
  );
}

interface NameProps {
  readonly workspace: Workspace;
  readonly isEditable: boolean;
}

function NameCard({ workspace, isEditable }: NameProps) {
  const change = useChange('studio', 'PUT /api/v1/workspaces/:id');
  const save = (form: FormData) =>
    change.mutate({
      params: { id: workspace.id },
      body: { name: textOf(form, 'name'), description: textOf(form, 'description') },
    });
  return (
    <section className="card" aria-label="Name">
      <h2>Name</h2>
      <fieldset className="plain" disabled={!isEditable}>
        <ChangeForm change={change} action="Save the name" onSubmit={save}>
          <Field label="Name">
            <input name="name" required maxLength={128} defaultValue={workspace.name} />
          </Field>
          <Field label="Description">
            <textarea name="description" defaultValue={workspace.description} />
          </Field>
          <p className="faint wrap">
            Its files lie at <code>{workspace.path}</code>.
          </p>
        </ChangeForm>
      </fieldset>
    </section>
  );
}

interface SettingsProps {
  /** Of the workspace. */
  readonly id: string;
  readonly settings: Settings;
  readonly isEditable: boolean;
}

function SettingsCard({ id, settings, isEditable }: SettingsProps) {
  const change = useChange('studio', 'PUT /api/v1/workspaces/:id');
  const save = (form: FormData) =>
    change.mutate({ params: { id }, body: { settings: readSettings(form) } });
  return (
    <section className="card" aria-label="Settings">
      <h2>Settings</h2>
      <fieldset className="plain" disabled={!isEditable}>
        <ChangeForm change={change} action="Save the settings" onSubmit={save}>
          <Field label="Model" hint="What its agents ask; the gateway chooses when blank.">
            <input name="model" className="mono" defaultValue={settings.model} />
          </Field>
          <Field
            label="Test command"
            hint="A program and its arguments, one a line; no shell reads it."
          >
            <textarea
              name="testCommand"
              className="mono"
              defaultValue={settings.testCommand?.join('\n')}
            />
          </Field>
          <Field label="Tools" hint="Of the registry, as connection__tool, set off by blanks.">
            <textarea name="tools" className="mono" defaultValue={settings.tools?.join('\n')} />
          </Field>
          <Field label="Deploy workflow" hint="The workflow that deploy tasks run, as wfl_…">
            <input name="deployWorkflow" className="mono" defaultValue={settings.deployWorkflow} />
          </Field>
          <Field
            label="Quota in bytes"
            hint="What all files may take; the studio's own when blank."
          >
            <input name="quotaBytes" type="number" min={0} defaultValue={settings.quotaBytes} />
          </Field>
        </ChangeForm>
      </fieldset>
    </section>
  );
}

/** Settings are replaced as a whole: what is blank is left out. */
function readSettings(form: FormData): Settings {
  const command = linesIn(textOf(form, 'testCommand'));
  const tools = wordsOf(form, 'tools');
  const quota = textOf(form, 'quotaBytes');
  return {
    ...filled(form, 'model'),
    ...filled(form, 'deployWorkflow'),
    ...(command.length > 0 ? { testCommand: command } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(quota === '' ? {} : { quotaBytes: Number(quota) }),
  };
}

function EndCard({ workspace }: { readonly workspace: Workspace }) {
  const [, navigate] = useLocation();
  const params = { id: workspace.id };
  const deletion = useChange('studio', 'DELETE /api/v1/workspaces/:id', {
    onDone: () => navigate('~/studio'),
  });
  return (
    <section className="card stack" aria-label="Delete the workspace">
      <h2>Delete the workspace</h2>
      <p className="faint">Its folder, files with all versions, agents and tasks go with it.</p>
      <div>
        <ConfirmButton
          label="Delete the workspace"
          title={`Delete ${workspace.name}?`}
          action="Delete it"
          onConfirm={() => deletion.mutateAsync({ params })}
        >
          <p>Nothing of it can be had back: its files and their versions, its agents and tasks.</p>
        </ConfirmButton>
      </div>
    </section>
  );
}

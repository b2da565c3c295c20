import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { filled, textOf, wordsOf } from '../../ui/form-values.ts';

export interface SpawnFormProps {
  readonly workspaceId: string;
  readonly onClose: () => void;
}

type Runtime = Answer<'studio', 'GET /api/v1/runtimes'>['runtimes'][number];

/** Starts an agent in a workspace, and opens it. */
export function SpawnForm({ workspaceId, onClose }: SpawnFormProps): ReactNode {
  const [, navigate] = useLocation();
  const runtimes = useAnswer('studio', 'GET /api/v1/runtimes');
  const spawning = useChange('studio', 'POST /api/v1/agents/spawn');
  const spawn = (form: FormData) => {
    const runtime = runtimes.data?.runtimes.find(({ name }) => name === textOf(form, 'runtime'));
    spawning.mutate(
      { body: { ...bodyOf(form), ...(runtime ? { runtime: runtime.name } : {}), workspaceId } },
      { onSuccess: ({ id }) => navigate(`/agents/${id}`) },
    );
  };
  return (
    <ChangeForm change={spawning} action="Spawn" onSubmit={spawn} onCancel={onClose}>
      <KindField />
      <Field label="Name" hint="Its kind when blank.">
        <input name="name" maxLength={128} autoComplete="off" />
      </Field>
      <Answered query={runtimes}>
        {({ runtimes: found }) => <RuntimeField runtimes={found} />}
      </Answered>
      <details>
        <summary>Limits and capabilities</summary>
        <div className="stack">
          <Field label="Processor" hint="Cores, as 500m or 1; the kind's own when blank.">
            <input name="cpu" className="mono" />
          </Field>
          <Field label="Memory" hint="As 512Mi or 1Gi; the kind's own when blank.">
            <input name="memory" className="mono" />
          </Field>
          <Field label="Ends after" hint="Seconds; what the operator allows when blank.">
            <input name="ttl" type="number" min={1} />
          </Field>
          <Field label="Capabilities" hint="Set off by blanks; the kind's own when blank.">
            <input name="capabilities" className="mono" />
          </Field>
        </div>
      </details>
      {spawning.isPending ? <p className="faint">It starts, and joins the mesh …</p> : null}
    </ChangeForm>
  );
}

function KindField() {
  const templates = useAnswer('studio', 'GET /api/v1/templates');
  return (
    <Answered query={templates}>
      {({ templates: found }) => (
        <fieldset className="stack plain">
          <legend className="field-label">Kind</legend>
          {found.map(({ name, description, resources }, index) => (
            <label key={name} className="choice">
              <input type="radio" name="type" value={name} defaultChecked={index === 0} />
              <span>
                {name}{' '}
                <span className="faint">
                  {description} {resources.cpu} cores, {resources.memory}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </Answered>
  );
}

function RuntimeField({ runtimes }: { readonly runtimes: readonly Runtime[] }) {
  const missing = runtimes.filter(({ available }) => !available);
  return (
    <>
      <Field label="Runs on">
        <select name="runtime">
          {runtimes.map(({ name, available }) => (
            <option key={name} disabled={!available}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      {missing.length > 0 ? (
        <details>
          <summary>What cannot be used here, and why</summary>
          <ul className="faint wrap">
            {missing.map(({ name, missing: why }) => (
              <li key={name}>
                {name}: {why}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </>
  );
}

function bodyOf(form: FormData) {
  const resources = { ...filled(form, 'cpu'), ...filled(form, 'memory') };
  const capabilities = wordsOf(form, 'capabilities');
  const ttl = textOf(form, 'ttl');
  return {
    type: textOf(form, 'type'),
    ...filled(form, 'name'),
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    ...(capabilities.length > 0 ? { capabilities } : {}),
    ...(ttl === '' ? {} : { ttl: Number(ttl) }),
  };
}

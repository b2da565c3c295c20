import type { ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { filled, textOf } from '../../ui/form-values.ts';
import type { Provider } from '../answers.ts';

export interface ProviderFormProps {
  /** The one to be changed; a new one when absent. */
  readonly provider?: Provider;
  readonly onClose: () => void;
}

/** Puts a provider in force. */
export function ProviderForm({ provider, onClose }: ProviderFormProps): ReactNode {
  const change = useChange('auth', 'POST /api/v1/auth/oauth/configure');
  const save = (form: FormData) => change.mutate({ body: bodyOf(form) }, { onSuccess: onClose });
  return (
    <ChangeForm change={change} action="Put in force" onSubmit={save} onCancel={onClose}>
      <Field label="Name" hint="Lower-case letters, digits and hyphens.">
        <input
          name="provider"
          required
          pattern="[a-z0-9][a-z0-9\-]{0,63}"
          readOnly={provider !== undefined}
          defaultValue={provider?.provider}
        />
      </Field>
      {fields.map(({ name, label, hint, isNeeded }) => (
        <Field key={name} label={label} hint={hint}>
          <input
            name={name}
            className="mono"
            required={isNeeded}
            defaultValue={provider?.config[name]}
          />
        </Field>
      ))}
      <Field label="Client secret" hint="It is never shown: write it again for each change.">
        <input name="clientSecret" type="password" required autoComplete="off" />
      </Field>
    </ChangeForm>
  );
}

interface ConfigField {
  readonly name: keyof Provider['config'];
  readonly label: string;
  readonly hint?: string;
  readonly isNeeded?: boolean;
}

const fields: readonly ConfigField[] = [
  { name: 'authorizationURL', label: 'Authorization address', isNeeded: true },
  { name: 'tokenURL', label: 'Token address', isNeeded: true },
  { name: 'userInfoURL', label: 'User info address', isNeeded: true },
  { name: 'clientID', label: 'Client id', isNeeded: true },
  { name: 'callbackURL', label: 'Callback address', isNeeded: true },
  { name: 'issuer', label: 'Issuer', hint: 'Its metadata is read and its id_tokens are checked.' },
  { name: 'jwksURL', label: 'Key set address', hint: 'Where the metadata names none.' },
  { name: 'groupsURL', label: 'Groups address', hint: 'Where user info claims no groups.' },
  { name: 'scopes', label: 'Scopes', hint: 'openid profile email when blank.' },
];

function bodyOf(form: FormData) {
  return {
    provider: textOf(form, 'provider'),
    config: {
      authorizationURL: textOf(form, 'authorizationURL'),
      tokenURL: textOf(form, 'tokenURL'),
      userInfoURL: textOf(form, 'userInfoURL'),
      clientID: textOf(form, 'clientID'),
      callbackURL: textOf(form, 'callbackURL'),
      clientSecret: textOf(form, 'clientSecret'),
      ...filled(form, 'issuer'),
      ...filled(form, 'jwksURL'),
      ...filled(form, 'groupsURL'),
      ...filled(form, 'scopes'),
    },
  };
}

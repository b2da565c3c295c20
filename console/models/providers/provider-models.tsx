import type { ReactNode } from 'react';
import { newModel, type ModelForm } from './provider-settings.ts';
import type { FormPartProps } from './form-part.ts';

type TextField = Exclude<keyof ModelForm, 'rest'>;

const fields: readonly (readonly [name: TextField, title: string])[] = [
  ['name', 'Name'],
  ['capabilities', 'Can'],
  ['inputCostPerMToken', '$ in / million'],
  ['outputCostPerMToken', '$ out / million'],
  ['quality', 'Quality'],
  ['contextWindow', 'Context'],
];

/** Whether a provider is asked which models it has, or has those that are named here. */
export function ProviderModels({ form, onSet }: FormPartProps): ReactNode {
  return (
    <fieldset className="stack">
      <legend>Models</legend>
      <label>
        <input
          type="radio"
          name="modelSource"
          required
          checked={form.modelSource === 'provider'}
          onChange={() => onSet({ modelSource: 'provider' })}
        />{' '}
        Those that the provider lists itself, asked for every minute
      </label>
      <label>
        <input
          type="radio"
          name="modelSource"
          checked={form.modelSource === 'settings'}
          onChange={() => onSet({ modelSource: 'settings' })}
        />{' '}
        These alone{form.models.length > 0 ? ` (${form.models.length} now)` : ''}
      </label>
      {form.modelSource === 'settings' ? <ModelRows form={form} onSet={onSet} /> : null}
    </fieldset>
  );
}

function ModelRows({ form: { models }, onSet }: FormPartProps): ReactNode {
  const replace = (at: number, model: ModelForm) =>
    onSet({ models: models.map((other, index) => (index === at ? model : other)) });
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            {fields.map(([name, title]) => (
              <th key={name} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">Remove</th>
          </tr>
        </thead>
        <tbody>
          {models.map((model, index) => (
            // Rows are known by their places: a name is being typed.
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={index}>
              {fields.map(([name, title]) => (
                <td key={name}>
                  <input
                    aria-label={`${title} of model ${index + 1}`}
                    value={model[name]}
                    onChange={({ target }) => replace(index, { ...model, [name]: target.value })}
                  />
                </td>
              ))}
              <td>
                <button
                  type="button"
                  className="quiet"
                  aria-label={`Remove model ${index + 1}`}
                  onClick={() => onSet({ models: models.filter((_, other) => other !== index) })}
                >
                  ✕
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="row">
        <button type="button" onClick={() => onSet({ models: [...models, newModel] })}>
          Add a model
        </button>
        <span className="faint">What is left empty is taken from the catalogue, by the name.</span>
      </div>
    </>
  );
}

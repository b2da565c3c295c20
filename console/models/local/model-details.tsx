import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';

type Shown = Answer<'models', 'POST /api/show'>;

/** What a model is and can do, as its own file says. */
export function ModelDetails({ name }: { readonly name: string }): ReactNode {
  const shown = useQuery({
    queryKey: ['models', 'show', name],
    queryFn: () => call('models', 'POST /api/show', { body: { model: name } }),
  });
  return <Answered query={shown}>{(model) => <Details model={model} />}</Answered>;
}

function Details({ model }: { readonly model: Shown }): ReactNode {
  const { details, capabilities, license, template, parameters, system } = model;
  return (
    <div className="stack">
      <Facts
        facts={[
          ['Can', capabilities.join(', ')],
          ['Kind', details.family],
          ['Parameters', details.parameter_size],
          ['Quantisation', details.quantization_level],
          ['Format', details.format],
          ['Licence', license],
          ['Options', parameters],
          ['Instructions', system],
        ]}
      />
      <details>
        <summary>What its file says</summary>
        <JsonView value={model.model_info} />
      </details>
      {template === '' ? null : (
        <details>
          <summary>Chat template</summary>
          <JsonView value={template} />
        </details>
      )}
    </div>
  );
}

import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { hasWords } from '../../ui/entry-text.ts';
import { ModalButton } from '../../ui/modal-button.tsx';
import { formatCount, formatDollars } from '../../ui/text.ts';

type Model = Answer<'chat', 'GET /api/models'>['models'][number];

/** The name under which the gateway chooses. */
export const anyModel = 'auto-route';

export interface ModelChoiceProps {
  readonly model: string;
  readonly onChoose: (model: string) => void;
}

/** Says which model answers, and opens the choice of another. */
export function ModelChoice({ model, onChoose }: ModelChoiceProps): ReactNode {
  return (
    <ModalButton label={`Model: ${model} ▾`} title="Which model answers?">
      {(close) => (
        <Choice
          model={model}
          onClose={close}
          onChoose={(chosen) => {
            close();
            if (chosen !== model) onChoose(chosen);
          }}
        />
      )}
    </ModalButton>
  );
}

function Choice(props: ModelChoiceProps & { readonly onClose: () => void }): ReactNode {
  const { model, onChoose, onClose } = props;
  const [query, setQuery] = useState('');
  const models = useAnswer('chat', 'GET /api/models');
  return (
    <>
      <input
        type="search"
        aria-label="Find a model"
        placeholder="Name, provider or capability"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <div className="model-list">
        <ModelRow id={anyModel} isChosen={model === anyModel} onChoose={onChoose}>
          the gateway chooses for each question
        </ModelRow>
        <Answered query={models}>
          {(answer) =>
            find(answer.models, query).map((one) => (
              <ModelRow key={one.id} id={one.id} isChosen={model === one.id} onChoose={onChoose}>
                {describe(one)}
              </ModelRow>
            ))
          }
        </Answered>
      </div>
      <div className="row">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

interface ModelRowProps {
  readonly id: string;
  readonly isChosen: boolean;
  readonly onChoose: (model: string) => void;
  readonly children: ReactNode;
}

function ModelRow({ id, isChosen, onChoose, children }: ModelRowProps): ReactNode {
  return (
    <button type="button" aria-pressed={isChosen} onClick={() => onChoose(id)}>
      <strong>{id}</strong>
      <span className="faint">{children}</span>
    </button>
  );
}

const shownMax = 200;

function find(models: readonly Model[], query: string): readonly Model[] {
  return models
    .filter(({ capabilities }) => capabilities.includes('chat'))
    .filter(({ id, provider, capabilities }) =>
      hasWords([id, provider, ...capabilities].join(' '), query),
    )
    .slice(0, shownMax);
}

function describe(model: Model): string {
  const { provider, context_window: context, cost_per_1k_tokens: cost } = model;
  const thousand = 1_000;
  const price = model.is_price_unknown
    ? 'price unknown'
    : `${formatDollars(cost.input * thousand)} in, ${formatDollars(cost.output * thousand)} out a million tokens`;
  return `${provider} · ${formatCount(context)} tokens of context · ${price}`;
}

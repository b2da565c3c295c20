import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/answers.ts';
import { Field } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { RoutingDecisionView } from './routing-decision-view.tsx';
import { toCompletion, type RoutingWish } from './routing.ts';

const strategies: readonly (readonly [RoutingWish['strategy'], string])[] = [
  ['cost', 'the cheapest'],
  ['performance', 'the fastest'],
  ['quality', 'the best'],
];

const nothing: RoutingWish = {
  question: '',
  model: '',
  strategy: 'cost',
  hasTools: false,
  wantsJson: false,
};

/** Asks where a question would go, and why, without asking any model. */
export function RoutingForm(): ReactNode {
  const [wish, setWish] = useState(nothing);
  const routing = useChange('gateway', 'POST /api/v1/route');
  const set = (change: Partial<RoutingWish>) => setWish({ ...wish, ...change });
  return (
    <section className="card stack" aria-labelledby="routing">
      <h2 id="routing">Why this model?</h2>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          routing.mutate({ body: toCompletion(wish) });
        }}
      >
        <Field
          label="Question"
          hint="Nobody is asked: the gateway says where it would go, and why."
        >
          <textarea
            required
            value={wish.question}
            onChange={({ target }) => set({ question: target.value })}
          />
        </Field>
        <div className="row routing-wishes">
          <Field label="Model">
            <input
              placeholder="auto-route"
              value={wish.model}
              onChange={({ target }) => set({ model: target.value.trim() })}
            />
          </Field>
          <Field label="First comes">
            <select
              value={wish.strategy}
              onChange={({ target }) =>
                set({ strategy: strategies.find(([name]) => name === target.value)?.[0] ?? 'cost' })
              }
            >
              {strategies.map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          <Box text="with tools" isOn={wish.hasTools} onSet={(hasTools) => set({ hasTools })} />
          <Box text="as JSON" isOn={wish.wantsJson} onSet={(wantsJson) => set({ wantsJson })} />
          <button type="submit" disabled={routing.isPending || wish.question.trim() === ''}>
            Explain
          </button>
        </div>
      </form>
      {routing.error ? <Problem error={routing.error} /> : null}
      {routing.data ? <RoutingDecisionView decision={routing.data} /> : null}
    </section>
  );
}

interface BoxProps {
  readonly text: string;
  readonly isOn: boolean;
  readonly onSet: (isOn: boolean) => void;
}

function Box({ text, isOn, onSet }: BoxProps): ReactNode {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={({ target }) => onSet(target.checked)} />{' '}
      {text}
    </label>
  );
}

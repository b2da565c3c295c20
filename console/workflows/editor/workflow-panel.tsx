import { useState, type ReactNode } from 'react';
import { Permitted } from '../../session/permitted.tsx';
import { Field } from '../../ui/field.tsx';
import { formatAge } from '../../ui/text.ts';
import type { Flow } from '../flow/flow.ts';
import { ExportButton } from './export-button.tsx';
import { NumberField } from './number-field.tsx';
import type { WorkflowFacts } from './stored-workflow.ts';
import type { DraftState } from './use-draft.ts';

export interface WorkflowPanelProps {
  readonly draft: DraftState;
  readonly facts: WorkflowFacts | undefined;
}

/** What is said of the workflow as a whole, and the bounds of its executions. */
export function WorkflowPanel({ draft, facts }: WorkflowPanelProps): ReactNode {
  const { labels, changeLabels } = draft;
  const [tags, setTags] = useState(labels.tags.join(', '));
  return (
    <div className="stack">
      <h2>Workflow</h2>
      <Permitted needs="workflow:create">
        <Field label="Description">
          <textarea
            value={labels.description}
            onChange={({ target }) => changeLabels({ ...labels, description: target.value })}
          />
        </Field>
        <Field label="Category">
          <input
            value={labels.category}
            maxLength={64}
            onChange={({ target }) => changeLabels({ ...labels, category: target.value })}
          />
        </Field>
        <Field label="Tags" hint="with commas">
          <input
            value={tags}
            onChange={({ target }) => {
              setTags(target.value);
              changeLabels({ ...labels, tags: readTags(target.value) });
            }}
          />
        </Field>
        <Bounds draft={draft} />
      </Permitted>
      {facts ? (
        <>
          <ExportButton id={facts.id} name={facts.name} />
          <p className="faint">
            {facts.id}, {facts.complexity}, made {formatAge(facts.createdAt)}, changed{' '}
            {formatAge(facts.updatedAt)}
          </p>
        </>
      ) : null}
    </div>
  );
}

function Bounds({ draft: { flow, changeFlow } }: Pick<WorkflowPanelProps, 'draft'>) {
  const setBound = (name: Bound, value: number | undefined) =>
    changeFlow(changeBound(flow, name, value), `bound ${name}`);
  return (
    <>
      <h2>An execution may use</h2>
      <NumberField
        label="Time"
        hint="milliseconds"
        value={flow.settings?.timeout}
        onChange={(value) => setBound('timeout', value)}
      />
      <NumberField
        label="Tokens"
        value={flow.settings?.maxTokens}
        onChange={(value) => setBound('maxTokens', value)}
      />
      <NumberField
        label="Cost"
        hint="US dollars"
        step="any"
        value={flow.settings?.maxCost}
        onChange={(value) => setBound('maxCost', value)}
      />
    </>
  );
}

function readTags(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

type Bound = keyof NonNullable<Flow['settings']>;

function changeBound(flow: Flow, name: Bound, value: number | undefined): Flow {
  const { settings, ...rest } = flow;
  const { [name]: _before, ...others } = settings ?? {};
  const bounds = value === undefined ? others : { ...others, [name]: value };
  return Object.keys(bounds).length > 0 ? { ...rest, settings: bounds } : rest;
}

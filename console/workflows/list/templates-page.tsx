import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import type { Template } from '../flow/flow.ts';
import { WorkflowsNav } from '../parts/workflows-nav.tsx';

/** Ready flows to begin with. */
export function TemplatesPage(): ReactNode {
  const templates = useAnswer('workflow', 'GET /api/v1/workflows/templates');
  return (
    <Page title="Workflows">
      <WorkflowsNav />
      <Answered query={templates}>
        {(answer) => (
          <ul className="cards workflow-cards">
            {answer.templates.map((template) => (
              <TemplateCard key={template.id} template={template} />
            ))}
          </ul>
        )}
      </Answered>
    </Page>
  );
}

function TemplateCard({ template }: { readonly template: Template }) {
  const [, navigate] = useLocation();
  const make = useChange('workflow', 'POST /api/v1/workflows/templates/:id/instantiate');
  const { id, name, description, components, complexity, inputs, tags } = template;
  return (
    <li className="card stack">
      <h2>{name}</h2>
      <p className="workflow-flat">{description}</p>
      <p className="faint workflow-flat">
        {components === 1 ? 'one step' : `${components} steps`}, {complexity}
        {inputs.length > 0 ? `; takes ${inputs.map((input) => input.name).join(', ')}` : ''}
      </p>
      <p className="faint workflow-flat">{tags.join(', ')}</p>
      {make.error ? <Problem error={make.error} /> : null}
      <Permitted needs="workflow:create">
        <button
          type="button"
          className="workflow-foot"
          disabled={make.isPending}
          onClick={() =>
            make.mutate(
              { params: { id }, body: {} },
              { onSuccess: (workflow) => navigate(`/${workflow.id}`) },
            )
          }
          aria-label={`Use this: ${name}`}
        >
          Use this
        </button>
      </Permitted>
    </li>
  );
}

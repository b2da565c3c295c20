import type { StoredFlow } from '../version-store.ts';
import type { FlowFacts, Workflow } from '../workflow.ts';
import type { Template } from './template.ts';

/** Nobody's subject. */
const systemOwner = 'system';
const builtAt = new Date('2026-11-22T00:00:00Z');

/** A template as the workflow that it can be run as. */
export function templateWorkflow(template: Template, facts: FlowFacts): Workflow {
  const { id, name, description, category, tags } = template;
  return {
    id,
    name,
    description,
    category,
    tags,
    ...facts,
    status: 'active',
    ownerId: systemOwner,
    version: 1,
    latest: 1,
    revision: 1,
    templateId: id,
    createdAt: builtAt,
    updatedAt: builtAt,
  };
}

/** Its only version. */
export function templateVersion({ flow }: Template, workflow: Workflow): StoredFlow {
  const { id: workflowId, components, complexity, typicalMs } = workflow;
  return {
    workflowId,
    version: 1,
    components,
    complexity,
    typicalMs,
    createdBy: systemOwner,
    createdAt: builtAt,
    publishedAt: builtAt,
    flow,
    size: 0,
  };
}

import { call } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';
import type { Flow, FlowFault } from '../flow/flow.ts';

export type StoredWorkflow = Answer<'workflow', 'GET /api/v1/workflows/:id'>;
/** A workflow without its flow. */
export type WorkflowFacts = Answer<'workflow', 'PUT /api/v1/workflows/:id'>;

/** What people read of a workflow. */
export interface Labels {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
}

/** What is edited. */
export interface Draft {
  readonly labels: Labels;
  readonly flow: Flow;
}

/** A workflow with its newest flow, published or not. */
export async function readNewest(id: string): Promise<StoredWorkflow> {
  const shown = await call('workflow', 'GET /api/v1/workflows/:id', { params: { id } });
  if (shown.flowVersion === shown.latestVersion) return shown;
  const query = { version: shown.latestVersion };
  return await call('workflow', 'GET /api/v1/workflows/:id', { params: { id }, query });
}

/** Everything that is wrong with a flow. */
export async function findFaults(flow: Flow): Promise<readonly FlowFault[]> {
  const { faults } = await call('workflow', 'POST /api/v1/workflows/validate', { body: { flow } });
  return faults;
}

/** Stores a new workflow as a draft. */
export async function createDraft({ labels, flow }: Draft): Promise<WorkflowFacts> {
  const body = { ...labels, tags: [...labels.tags], flow, status: 'draft' as const };
  return await call('workflow', 'POST /api/v1/workflows', { body });
}

/**
 * Stores a workflow's changes as a draft, on the revision that they were made from: a save by somebody
 * else meanwhile is a refusal (`WORKFLOW_CHANGED`).
 */
export async function saveDraft(
  { labels, flow }: Draft,
  { id, revision }: Pick<WorkflowFacts, 'id' | 'revision'>,
): Promise<WorkflowFacts> {
  const body = { ...labels, tags: [...labels.tags], flow, publish: false };
  const headers = { 'if-match': `"${revision}"` };
  return await call('workflow', 'PUT /api/v1/workflows/:id', { params: { id }, body, headers });
}

export function labelsOf({ name, description, category, tags }: WorkflowFacts): Labels {
  return { name, description, category, tags };
}

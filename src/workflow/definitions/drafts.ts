import type { Definitions } from './definitions.ts';
import { draftVersion, unknownWorkflow } from './refusals.ts';
import type { StoredFlow } from './version-store.ts';
import type { Actor, Workflow } from './workflow.ts';

type Readable = Pick<Definitions, 'read' | 'readVersion'>;

/** Whether somebody sees the drafts of a workflow. */
export function seesDrafts({ ownerId }: Pick<Workflow, 'ownerId'>, actor: Actor): boolean {
  return ownerId === actor.id || actor.isAdmin;
}

/** A workflow as somebody sees it; `not_found` for others while nothing of it was published. */
export async function readShown(
  definitions: Pick<Readable, 'read'>,
  id: string,
  actor: Actor,
): Promise<Workflow> {
  const workflow = await definitions.read(id);
  if (workflow.version === undefined && !seesDrafts(workflow, actor)) throw unknownWorkflow();
  return workflow;
}

/** A version as somebody sees it, the published one unless told; `not_found` for drafts of others. */
export async function readShownVersion(
  definitions: Readable,
  workflow: Workflow,
  { version, actor }: { readonly version?: number | undefined; readonly actor: Actor },
): Promise<StoredFlow> {
  const found = await definitions.readVersion(workflow, version);
  if (found.publishedAt === undefined && !seesDrafts(workflow, actor)) throw unknownWorkflow();
  return found;
}

/**
 * Whether the flow of another workflow may run this version: one that was published, or a draft of its own
 * owner. Throws `not_found` and `conflict` otherwise.
 */
export async function requireNameable(
  definitions: Readable,
  { workflowId, version }: { readonly workflowId: string; readonly version: number },
  byWorkflowId: string,
): Promise<void> {
  const workflow = await definitions.read(workflowId);
  const { publishedAt } = await definitions.readVersion(workflow, version);
  if (publishedAt !== undefined) return;
  const { ownerId } = await definitions.read(byWorkflowId);
  if (ownerId === workflow.ownerId) return;
  if (workflow.version === undefined) throw unknownWorkflow();
  throw draftVersion(version);
}

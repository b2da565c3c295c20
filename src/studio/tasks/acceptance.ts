import { createHash } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { newId } from '../../kit/ids.ts';
import { requirePermission } from '../../kit/permissions.ts';
import type { Agent, Agents } from '../agents/agent.ts';
import type { Workspace, Workspaces } from '../workspaces/workspace.ts';
import { nothing } from './agent-loads.ts';
import { lossOf } from './agent-loss.ts';
import { missingCapabilities } from './placement.ts';
import type { StoredTask } from './stored-task.ts';
import { notDoable } from './task-faults.ts';
import type { NewTask, TaskRequirements, WorkspaceExtras } from './task.ts';
import type { TaskEntry } from './task-store.ts';
import { hasEndedForGood } from './transitions.ts';

export interface AcceptanceParts {
  readonly agents: Pick<Agents, 'require'>;
  readonly workspaces: Pick<Workspaces, 'require'>;
}

/** A task as it is to be stored. */
export interface Accepted {
  readonly entry: TaskEntry;
  /** Of a task that is not known by its key already: `conflict`, `agent_not_running`. */
  readonly refusal: Fault | undefined;
}

const timeoutMsDefault = 10 * 60_000;
/** What the mesh takes, less what the studio adds. */
const inputBytesMax = 768 * 1_024;
/** Who may start workflows, as the workflow service has it. */
const mayExecute = 'workflow:execute';

/**
 * The task as it is to be stored. Refuses with what the caller may not, and with `invalid` what could
 * never be done: `agent_not_able`, `workspace_mismatch`, `no_test_command`, `no_deploy_workflow`.
 */
export async function accept(
  { agents, workspaces }: AcceptanceParts,
  identity: Identity,
  wanted: NewTask,
): Promise<Accepted> {
  const { wantedAgent, input = {} } = wanted;
  checkSize(input);
  const agent =
    wantedAgent === undefined ? undefined : await agents.require(identity, wantedAgent, 'execute');
  const requirements = requirementsOf(wanted);
  if (agent) checkAgent(agent, wanted, requirements);
  const workspaceId = wanted.workspaceId ?? agent?.workspaceId;
  const workspace =
    workspaceId === undefined
      ? undefined
      : await workspaces.require(identity, workspaceId, 'agents:execute');
  const { type, priority = 'normal', idempotencyKey, traceparent } = wanted;
  const extras = extrasOf(wanted, identity, workspace);
  const task: StoredTask = {
    id: newId('tsk'),
    version: 1,
    type,
    priority,
    requirements,
    input,
    extras,
    status: 'queued',
    ownerId: identity.subject,
    attempt: 0,
    createdAtMs: Date.now(),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(wantedAgent !== undefined && { wantedAgent }),
    ...(traceparent !== undefined && { traceparent }),
  };
  const refusal = refusalOf(agent, wanted);
  if (idempotencyKey === undefined) return { entry: { task }, refusal };
  return { entry: { task, idempotencyKey, requestHash: hashOf(wanted) }, refusal };
}

function requirementsOf({ requirements = {} }: NewTask): TaskRequirements {
  const { capabilities = [], resources = nothing, timeoutMs = timeoutMsDefault } = requirements;
  return { capabilities: [...new Set(capabilities)], resources, timeoutMs };
}

function checkSize(input: object): void {
  if (Buffer.byteLength(JSON.stringify(input)) <= inputBytesMax) return;
  throw new Fault('too_large', 'the input of a task is at most 768 KiB', {
    reason: 'input_too_large',
  });
}

function checkAgent(agent: Agent, wanted: NewTask, requirements: TaskRequirements): void {
  const { capabilities, resources = nothing } = requirements;
  const agentId = agent.id;
  if (wanted.workspaceId !== undefined && wanted.workspaceId !== agent.workspaceId) {
    throw notDoable('workspace_mismatch', 'the agent belongs to another workspace', { agentId });
  }
  // The studio itself does these.
  if (wanted.type === 'deploy') return;
  const missing = missingCapabilities(agent, capabilities);
  if (missing.length > 0) {
    const message = `the agent lacks the capabilities ${missing.join(', ')}`;
    throw notDoable('agent_not_able', message, { agentId, missing });
  }
  const { cpu, memory } = agent.resources;
  if (resources.cpu > cpu || resources.memory > memory) {
    throw notDoable('agent_not_able', 'the agent has less than the resources', { agentId });
  }
}

/** A task for an agent that has ended, or is about to, would wait in vain. */
function refusalOf(agent: Agent | undefined, { type }: NewTask): Fault | undefined {
  // The studio itself deploys.
  if (!agent || type === 'deploy') return undefined;
  if (!hasEndedForGood(agent) && agent.status !== 'stopping') return undefined;
  const { message } = lossOf(agent);
  return new Fault('conflict', `${message}; give the task to another`, {
    reason: 'agent_not_running',
    detail: { agentId: agent.id, status: agent.status },
  });
}

/**
 * The settings as they are now, so that every attempt is asked for alike. A task without a workspace is
 * what the interface shows, so none is refused for what only a workspace has: its record tells what it
 * lacked.
 */
function extrasOf(
  { type }: NewTask,
  { permissions }: Identity,
  workspace: Workspace | undefined,
): WorkspaceExtras {
  if (!workspace) return {};
  const { testCommand, model, tools, deployWorkflow } = workspace.settings;
  if (type === 'test' && !testCommand) {
    throw notDoable(
      'no_test_command',
      'the settings of the workspace name no testCommand for a `test` task',
    );
  }
  if (type === 'deploy') {
    if (deployWorkflow === undefined) {
      const message = 'the settings of the workspace name no deployWorkflow for a `deploy` task';
      throw notDoable('no_deploy_workflow', message);
    }
    requirePermission(permissions, mayExecute);
    return { deployWorkflow };
  }
  return {
    ...(testCommand && type === 'test' && { testCommand }),
    ...(model !== undefined && { model }),
    ...(tools && { tools }),
  };
}

function hashOf({
  type,
  priority,
  requirements,
  input,
  workspaceId,
  wantedAgent,
}: NewTask): string {
  const text = JSON.stringify([type, priority, requirements, input, workspaceId, wantedAgent]);
  return createHash('sha256').update(text).digest('base64url');
}

import { Fault } from '../../kit/errors.ts';
import type { Client } from '../../kit/client.ts';
import type { workflowContract } from '../../workflow/contract.ts';
import { patiently } from '../../kit/time/patience.ts';
import type { StoredTask } from './stored-task.ts';
import { attemptKeyOf, failed, type AttemptOutcome, type Beginning, type Work } from './work.ts';

/** What runs workflows, as the studio itself. */
export type WorkflowClient = Pick<
  Client<typeof workflowContract>,
  'executeWorkflow' | 'readExecution' | 'cancelExecution'
>;

type Execution = Awaited<ReturnType<WorkflowClient['readExecution']>>;

const callMs = 15_000;
const waitSeconds = 30;
/** Of what the workflow answered. */
const resultLengthMax = 64 * 1_024;

/** `deploy` tasks: the workspace's workflow, followed to its end. */
export class DeployWork implements Work {
  readonly #workflow: WorkflowClient;

  constructor(workflow: WorkflowClient) {
    this.#workflow = workflow;
  }

  async begin(
    task: StoredTask,
    { signal, leaving, parent }: Beginning,
  ): Promise<string | AttemptOutcome> {
    const { id: taskId, workspaceId, extras, input, requirements } = task;
    const { deployWorkflow } = extras;
    if (deployWorkflow === undefined) {
      return failed('no_deploy_workflow', 'no workspace names a deployWorkflow for it');
    }
    const body = {
      inputs: { ...input, taskId, workspaceId },
      options: { async: true, timeout: requirements.timeoutMs },
    };
    const headers = { 'idempotency-key': attemptKeyOf(task) };
    const options = { headers, signal: leaving, timeoutMs: callMs, parent };
    const starting = () =>
      this.#workflow.executeWorkflow({ params: { id: deployWorkflow }, body }, options);
    const answer = await patiently(starting, signal);
    return answer instanceof Fault ? refusalOf(answer) : answer.executionId;
  }

  async outcome(executionId: string, signal: AbortSignal): Promise<AttemptOutcome> {
    for (;;) {
      const execution = await patiently(() => this.#read(executionId, waitSeconds, signal), signal);
      if (execution instanceof Fault) return refusalOf(execution);
      const outcome = outcomeOf(execution);
      if (outcome) return outcome;
    }
  }

  async cancel(executionId: string, signal: AbortSignal): Promise<AttemptOutcome | undefined> {
    const params = { executionId };
    const options = { signal, timeoutMs: callMs };
    const cancelling = () => this.#workflow.cancelExecution({ params }, options);
    if (!((await patiently(cancelling, signal)) instanceof Fault)) return undefined;
    const execution = await patiently(() => this.#read(executionId, 0, signal), signal);
    return execution instanceof Fault ? undefined : outcomeOf(execution);
  }

  #read(executionId: string, wait: number, signal: AbortSignal): Promise<Execution> {
    const options = { signal, timeoutMs: wait * 1_000 + callMs, trace: 'none' as const };
    return this.#workflow.readExecution({ params: { executionId }, query: { wait } }, options);
  }
}

function outcomeOf(execution: Execution): AttemptOutcome | undefined {
  const { status, executionId, workflowId, result, error } = execution;
  if (status === 'running') return undefined;
  if (status === 'cancelled') return failed('cancelled', 'the deploy workflow was called off');
  if (status === 'failed') {
    if (error?.code === 'WORKFLOW_TIMEOUT') {
      return failed('timeout', 'the deploy workflow was not done in time');
    }
    return failed('deploy_failed', error?.message ?? 'the deploy workflow failed');
  }
  const text = JSON.stringify(result ?? {});
  return {
    status: 'completed',
    result: { text: text.length > resultLengthMax ? 'the deploy workflow has ended' : text },
    artefacts: [{ kind: 'execution', executionId, workflowId }],
  };
}

function refusalOf({ message }: Fault): AttemptOutcome {
  return failed('deploy_failed', `the deploy workflow cannot be run: ${message}`);
}

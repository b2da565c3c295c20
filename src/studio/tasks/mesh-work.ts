import { Fault } from '../../kit/errors.ts';
import type { Client } from '../../kit/client.ts';
import type { meshContract } from '../../mesh/contract.ts';
import { readFailure } from './agent-failure.ts';
import { outcomeOfAnswer } from './answer.ts';
import { patiently } from '../../kit/time/patience.ts';
import type { StoredTask } from './stored-task.ts';
import type { AgentTaskInput } from './task.ts';
import {
  attemptKeyOf,
  failed,
  interrupted,
  type AttemptOutcome,
  type Beginning,
  type Work,
} from './work.ts';

/** What has agents do tasks, as the studio itself. */
export type MeshClient = Pick<
  Client<typeof meshContract>,
  'executeTask' | 'readTask' | 'cancelTask'
>;

type TaskState = Awaited<ReturnType<MeshClient['readTask']>>;

const callMs = 15_000;
const waitSeconds = 30;

/** What says nothing of the task: its agent or the mesh was away. */
const passing = new Set([
  'AGENT_BUSY',
  'AGENT_NOT_FOUND',
  'AGENT_OFFLINE',
  'AGENT_QUEUE_FULL',
  'AGENT_UNREACHABLE',
  'CONNECTION_LOST',
  'TASK_INTERRUPTED',
  'TASK_NOT_FOUND',
  'UNAVAILABLE',
]);

/** Tasks that agents do over the mesh. */
export class MeshWork implements Work {
  readonly #mesh: MeshClient;

  constructor(mesh: MeshClient) {
    this.#mesh = mesh;
  }

  async begin(
    task: StoredTask,
    { signal, leaving, parent }: Beginning,
  ): Promise<string | AttemptOutcome> {
    const { type, priority, requirements, assignedAgent: targetAgent } = task;
    if (targetAgent === undefined) return failed('agent_lost', 'the task has no agent');
    const timeout = requirements.timeoutMs;
    const body = { targetAgent, task: { type, input: { ...inputOf(task) }, timeout, priority } };
    const headers = { 'idempotency-key': attemptKeyOf(task), prefer: 'respond-async' };
    const options = { headers, signal: leaving, timeoutMs: callMs, parent };
    const answer = await patiently(() => this.#mesh.executeTask({ body }, options), signal);
    return answer instanceof Fault ? refusalOf(answer) : answer.taskId;
  }

  async outcome(taskId: string, signal: AbortSignal): Promise<AttemptOutcome> {
    for (;;) {
      const state = await patiently(() => this.#read(taskId, waitSeconds, signal), signal);
      if (state instanceof Fault) return refusalOf(state);
      const outcome = outcomeOf(state);
      if (outcome) return outcome;
    }
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<AttemptOutcome | undefined> {
    const options = { signal, timeoutMs: callMs };
    const cancelling = () => this.#mesh.cancelTask({ params: { taskId } }, options);
    if (!((await patiently(cancelling, signal)) instanceof Fault)) return undefined;
    const state = await patiently(() => this.#read(taskId, 0, signal), signal);
    return state instanceof Fault ? undefined : outcomeOf(state);
  }

  #read(taskId: string, wait: number, signal: AbortSignal): Promise<TaskState> {
    const options = { signal, timeoutMs: wait * 1_000 + callMs, trace: 'none' as const };
    return this.#mesh.readTask({ params: { taskId }, query: { wait } }, options);
  }
}

/** Of what is stored only: whoever makes it again makes the same. */
function inputOf({ id, workspaceId, input, extras, type }: StoredTask): AgentTaskInput {
  const { testCommand, model, tools } = extras;
  return {
    ...input,
    studioTaskId: id,
    ...(workspaceId !== undefined && { workspaceId }),
    ...(testCommand && type === 'test' && { testCommand }),
    ...(model !== undefined && { model }),
    ...(tools && { tools }),
  };
}

function outcomeOf({ status, result, error, taskId }: TaskState): AttemptOutcome | undefined {
  if (status === 'completed') return outcomeOfAnswer(result ?? null);
  if (status === 'cancelled') return failed('cancelled', 'the task was called off on the mesh');
  if (status !== 'failed') return undefined;
  const { code = 'AGENT_FAILED', message = `the task ${taskId} failed`, details } = error ?? {};
  if (passing.has(code)) return interrupted('agent_unavailable', message);
  if (code === 'TASK_DEADLINE') return failed('timeout', 'the task was not done in time');
  const words = wordsOf(message, details);
  if (code !== 'AGENT_FAILED') return failed(code.toLowerCase(), words);
  const failure = readFailure(words);
  return failed(failure.code, failure.message);
}

/** The agent's own words, where there are any. */
function wordsOf(message: string, details: { readonly agentError?: unknown } = {}): string {
  const { agentError } = details;
  return typeof agentError === 'string' && agentError !== '' ? agentError : message;
}

function refusalOf({ code, reason = code, message }: Fault): AttemptOutcome {
  return passing.has(reason.toUpperCase())
    ? interrupted('agent_unavailable', message)
    : failed(reason, `the mesh refused the task: ${message}`);
}

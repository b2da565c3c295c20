import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { testIdentity } from '../../kit/identity/testing.ts';
import { newId } from '../../kit/ids.ts';
import type { Agent, Agents } from '../agents/agent.ts';
import type { WorkflowClient } from './deploy-work.ts';
import type { MeshClient } from './mesh-work.ts';
import { hasEnded } from './stored-task.ts';
import type { AgentTaskInput, NewTask, StudioTask, Tasks } from './task.ts';

/** Whoever calls in a test. */
export function identityOf(subject: string, permissions: readonly string[] = ['agent:execute']) {
  return testIdentity(subject, permissions);
}

type AgentGiven = Partial<Agent> & Pick<Agent, 'id'>;

/** A task as it may be given. */
export function taskOf(given: Partial<NewTask> = {}): NewTask {
  return { type: 'code_generation', input: { prompt: 'write it' }, ...given };
}

/** The task of the owner of all that tests make, once it has ended. */
export async function untilEnded(tasks: Tasks, id: string): Promise<StudioTask> {
  for (;;) {
    const task = await tasks.read(identityOf('usr_ada'), id);
    if (hasEnded(task)) return task;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Agents as a test says they are. */
export class GivenAgents implements Pick<Agents, 'running' | 'find' | 'require' | 'listen'> {
  readonly #agents = new Map<string, Agent>();
  readonly #listeners = new Set<(agent: Agent) => void>();

  /** Adds an agent, or changes what is given of it; listeners are told. */
  set(given: AgentGiven): Agent {
    const agent: Agent = {
      name: given.id,
      type: 'coder',
      template: 'coder',
      status: 'running',
      capabilities: [],
      runtime: 'local',
      ownerId: 'usr_ada',
      resources: { cpu: 1, memory: 2 ** 30 },
      createdAtMs: 0,
      restarts: 0,
      ...this.#agents.get(given.id),
      ...given,
    };
    this.#agents.set(agent.id, agent);
    for (const listener of this.#listeners) listener(agent);
    return agent;
  }

  running(): readonly Agent[] {
    return [...this.#agents.values()].filter(({ status }) => status === 'running');
  }

  async find(id: string): Promise<Agent | undefined> {
    return this.#agents.get(id);
  }

  async require({ subject }: Identity, id: string): Promise<Agent> {
    const agent = this.#agents.get(id);
    if (agent?.ownerId === subject) return agent;
    throw new Fault('not_found', 'there is no such agent', { reason: 'agent_not_found' });
  }

  listen(listener: (agent: Agent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export interface MeshTask {
  readonly taskId: string;
  readonly key: string;
  readonly agentId: string;
  readonly type: string;
  readonly input: AgentTaskInput;
  readonly timeout: number;
  /** Aborted when it is called off. */
  readonly signal: AbortSignal;
  /** Ends it, once. */
  readonly answer: (result: unknown) => void;
  readonly fail: (code: string, message?: string, agentError?: string) => void;
}

interface Kept extends MeshTask {
  readonly controller: AbortController;
  readonly ended: Promise<void>;
  state: Record<string, unknown>;
}

/** A mesh whose agents do what a test says; it outlives the studio. */
export class GivenMesh implements MeshClient {
  /** All that were begun, in their order. */
  readonly begun: MeshTask[] = [];
  /** What agents make of a task at once; nothing unless told. */
  work: (task: MeshTask) => void = () => {};
  /** Throws what a call is refused with. */
  refuse: (call: 'executeTask' | 'readTask' | 'cancelTask') => void = () => {};
  readonly #kept = new Map<string, Kept>();

  async executeTask(...[{ body }, options]: Parameters<MeshClient['executeTask']>) {
    this.refuse('executeTask');
    const key = options?.headers?.['idempotency-key'] ?? newId('key');
    const { targetAgent = '', task } = body;
    const { type, timeout = 30_000 } = task;
    const input = task.input as AgentTaskInput;
    const held = [...this.#kept.values()].find((kept) => kept.key === key);
    const kept = held ?? this.#begin({ key, agentId: targetAgent, type, input, timeout });
    return { taskId: kept.taskId, status: 'running' } as never;
  }

  async readTask(...[{ params, query }, options]: Parameters<MeshClient['readTask']>) {
    this.refuse('readTask');
    const kept = this.#find(params.taskId);
    if (query.wait > 0) await Promise.race([kept.ended, abortOf(options?.signal)]);
    options?.signal?.throwIfAborted();
    return kept.state as never;
  }

  async cancelTask(...[{ params }]: Parameters<MeshClient['cancelTask']>) {
    this.refuse('cancelTask');
    const kept = this.#find(params.taskId);
    if (kept.state['status'] !== 'running') throw new Fault('conflict', 'the task has ended');
    kept.state = { ...kept.state, status: 'cancelled' };
    kept.controller.abort();
    return kept.state as never;
  }

  #find(taskId: string): Kept {
    const kept = this.#kept.get(taskId);
    if (kept) return kept;
    throw new Fault('not_found', 'there is no such task', { reason: 'task_not_found' });
  }

  #begin(asked: Pick<MeshTask, 'key' | 'agentId' | 'type' | 'input' | 'timeout'>): Kept {
    const controller = new AbortController();
    const taskId = newId('tsk');
    const answered = new AbortController();
    const end = (state: Record<string, unknown>) => {
      if (kept.state['status'] !== 'running') return;
      kept.state = { ...kept.state, ...state };
      answered.abort();
    };
    const kept: Kept = {
      ...asked,
      taskId,
      controller,
      ended: Promise.race([abortOf(answered.signal), abortOf(controller.signal)]),
      signal: controller.signal,
      answer: (result) => end({ status: 'completed', result }),
      fail: (code, message = 'it failed', agentError) =>
        end({ status: 'failed', error: { code, message, details: { agentError } } }),
      state: { taskId, status: 'running' },
    };
    this.#kept.set(taskId, kept);
    this.begun.push(kept);
    this.work(kept);
    return kept;
  }
}

/** Runs workflows as a test says. */
export class GivenWorkflows implements WorkflowClient {
  readonly started: { readonly key: string | undefined; readonly inputs: unknown }[] = [];
  readonly cancelled: string[] = [];
  state: Record<string, unknown> = { status: 'running' };
  refusal: Fault | undefined;

  async executeWorkflow(...[{ body }, options]: Parameters<WorkflowClient['executeWorkflow']>) {
    if (this.refusal) throw this.refusal;
    this.started.push({ key: options?.headers?.['idempotency-key'], inputs: body.inputs });
    return { executionId: 'exe_1' } as never;
  }

  async readExecution(...[, options]: Parameters<WorkflowClient['readExecution']>) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    options?.signal?.throwIfAborted();
    return { executionId: 'exe_1', workflowId: 'wfl_1', ...this.state } as never;
  }

  async cancelExecution(...[{ params }]: Parameters<WorkflowClient['cancelExecution']>) {
    this.cancelled.push(params.executionId);
    return {} as never;
  }
}

function abortOf(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

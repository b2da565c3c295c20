import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import { toStorableText } from '../../kit/storable-json.ts';
import type { Serving, ServingAgent } from './serving.ts';
import { isHandedBack, type AgentTask } from './task-desk.ts';

const waitSeconds = 30;
const pauseMs = 1_000;
/** How long the mesh may be away before an answer is lost. */
const answerMsMax = 5 * 60_000;
const attemptsAtEnd = 5;
const answerPauseMsMax = 5_000;
/** The task is finished, or another's; or the agent is none any more. */
const settled: ReadonlySet<string> = new Set([
  'not_found',
  'conflict',
  'forbidden',
  'unauthenticated',
]);
const refusedAnswer: ReadonlySet<string> = new Set(['invalid', 'too_large']);

/** Comes for tasks: works behind NAT and firewalls, for nobody calls the agent. */
export function serveFromInbox(agent: ServingAgent): Promise<Serving> {
  return Promise.resolve(new InboxServing(agent));
}

class InboxServing implements Serving {
  readonly endpoints = {};
  readonly #agent: ServingAgent;
  readonly #stop = new AbortController();
  readonly #answering = new Set<Promise<void>>();
  #taking: Promise<void> | undefined;

  constructor(agent: ServingAgent) {
    this.#agent = agent;
  }

  begin(): void {
    this.#taking = this.#take();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#taking;
    await Promise.all(this.#answering);
  }

  async #take(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const limit = Math.min(100, this.#agent.desk.freeCount);
        if (limit === 0) await this.#pause(50);
        else for (const task of await this.#fetch(limit)) this.#accept(task);
      } catch {
        // The mesh is away or has forgotten the agent: the heartbeat sees to that.
        await this.#pause(pauseMs);
      }
    }
  }

  async #fetch(limit: number): Promise<readonly AgentTask[]> {
    const { calls } = this.#agent;
    const path = `${this.#path}?wait=${waitSeconds}&limit=${limit}`;
    const { signal } = this.#stop;
    const timeoutMs = (waitSeconds + 10) * 1_000;
    const answer = await calls.send({ method: 'GET', path, signal, timeoutMs });
    return (answer as { readonly tasks: readonly AgentTask[] }).tasks;
  }

  #accept(task: AgentTask): void {
    const work = this.#work(task);
    this.#answering.add(work);
    void work.finally(() => this.#answering.delete(work));
  }

  async #work(task: AgentTask): Promise<void> {
    const body = await this.#perform(task).catch((error: unknown) =>
      isHandedBack(error) ? undefined : { error: { message: messageOf(error) } },
    );
    if (!body) return;
    const path = `${this.#path}/${task.taskId}`;
    const refusal = await this.#tell(path, body);
    if (!refusal) return;
    // Else the asker would wait for all of its time.
    const message = `the mesh refused the agent’s answer: ${refusal.message}`.slice(0, 500);
    await this.#tell(path, { error: { message } });
  }

  async #perform(task: AgentTask): Promise<unknown> {
    const { desk } = this.#agent;
    const ended = new AbortController();
    void this.#watch(task.taskId, ended.signal);
    try {
      const answer = { result: (await desk.perform(task)) ?? null };
      // What JSON cannot hold is the agent's failure.
      JSON.stringify(answer);
      return answer;
    } finally {
      ended.abort();
    }
  }

  /** Calls the work off once the mesh has the task as ended; short work is over before that is asked. */
  async #watch(taskId: string, signal: AbortSignal): Promise<void> {
    const path = `/api/v1/tasks/${taskId}?wait=${waitSeconds}`;
    const timeoutMs = (waitSeconds + 10) * 1_000;
    while (!signal.aborted) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const read = this.#agent.calls.send({ method: 'GET', path, signal, timeoutMs });
      const task = await read.catch(() => undefined);
      const { status = 'running' } = (task ?? {}) as { readonly status?: string };
      if (signal.aborted || status === 'running' || status === 'queued') continue;
      this.#agent.desk.cancel(taskId);
      return;
    }
  }

  /** The refusal where the mesh cannot take such an answer; waits for a mesh that is away or busy. */
  async #tell(path: string, body: unknown): Promise<Fault | undefined> {
    const untilMs = performance.now() + answerMsMax;
    for (let attempt = 1; performance.now() < untilMs; attempt += 1) {
      try {
        await this.#agent.calls.send({ method: 'POST', path, body });
        return undefined;
      } catch (error) {
        if (!(error instanceof Fault) || settled.has(error.code)) return undefined;
        if (refusedAnswer.has(error.code)) return error;
        if (this.#stop.signal.aborted && attempt >= attemptsAtEnd) return undefined;
        await this.#pause(Math.min(pauseMs * attempt, answerPauseMsMax));
      }
    }
    return undefined;
  }

  get #path(): string {
    return `/api/v1/agents/${this.#agent.agentId}/inbox`;
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}

/** What the mesh may be told of a failure: an agent's own words. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : error;
  const isText = typeof message === 'string' && message !== '';
  return isText ? toStorableText(message.slice(0, 500)) : 'the agent failed';
}

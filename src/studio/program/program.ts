import {
  handBack,
  joinMesh,
  type AgentTask,
  type MeshAgent,
  type TaskContext,
} from '../../mesh/agent.ts';
import { codes, Fault } from '../../kit/errors.ts';
import type { ProgramIdentity } from '../runtimes/runtime.ts';
import { tellFailure } from '../tasks/agent-failure.ts';
import type { AgentAnswer, AgentTaskInput } from '../tasks/task.ts';
import { withArticle, type Job, type JobWorkspace } from './job.ts';
import { Credential } from './suite/credential.ts';
import { Model } from './suite/model.ts';
import { RegistryTools } from './suite/registry-tools.ts';
import { SuiteCalls } from './suite/suite-calls.ts';
import { WorkspaceDoor } from './suite/workspace-door.ts';
import { storable } from './storable.ts';
import { watchTask } from './task-watch.ts';
import { answerPrompt } from './templates/assistant.ts';
import type { Template } from './templates/template.ts';
import { templateFor } from './templates/templates.ts';

export interface ProgramOptions {
  readonly identity: ProgramIdentity;
  /** Has logged in already; used when it is the identity's own. */
  readonly credential?: Credential | undefined;
  /** A line of the agent's log; it holds no secret and nothing of prompts. */
  readonly log: (line: string) => void;
  /** How long tasks may still run once the program is to end; 3,000 unless told. */
  readonly finishMs?: number;
  /** How long to try while the suite cannot be reached; 30,000 unless told. */
  readonly joinTimeoutMs?: number;
}

const finishMsDefault = 3_000;
const farewellMs = 2_000;

/** An agent of the studio at work. */
export class Program {
  readonly #options: ProgramOptions;
  readonly #template: Template;
  readonly #credential: Credential;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #agent: MeshAgent | undefined;
  #isEnding = false;

  constructor(options: ProgramOptions) {
    const { apiKey, template, urls } = options.identity;
    this.#options = options;
    this.#template = templateFor(template);
    const { credential } = options;
    const isOwn = credential?.apiKey === apiKey;
    this.#credential = isOwn ? credential : new Credential({ url: urls.auth, apiKey });
  }

  /** Aborted when the agent can do nothing any more, with the Fault that says why. */
  get refused(): AbortSignal {
    return this.#credential.refused;
  }

  /** Joins the mesh and beats once; rejects with the Fault of auth or the mesh that refused. */
  async start(): Promise<void> {
    const { identity, joinTimeoutMs, log } = this.#options;
    const { agentId, capabilities, heartbeatSeconds, name, template, urls, workspaceId } = identity;
    const { concurrency } = this.#template;
    const agent = await joinMesh({
      url: urls.mesh,
      token: this.#credential.token,
      agentId,
      capabilities,
      metadata: {
        name,
        template,
        maxConcurrency: concurrency,
        ...(workspaceId && { workspaceId }),
      },
      concurrency,
      heartbeatInterval: heartbeatSeconds,
      joinTimeoutMs,
      onTask: (task, context) => this.#perform(task, context),
    });
    this.#agent = agent;
    // Heard it is by now: a mesh that is away for a moment hears the next beat.
    await agent.setStatus('active').catch((error: unknown) => {
      if (!codes[Fault.from(error).code].retryable) throw error;
    });
    log(`joined the mesh as ${agentId}, ${withArticle(this.#template.name)}`);
  }

  /**
   * Lets tasks end for a while, then stops the rest, which the mesh then knows as not done, and leaves it.
   * Never rejects.
   */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { finishMs = finishMsDefault, log } = this.#options;
    if (this.#running.size > 0) log(`ends; ${this.#running.size} tasks are not done yet`);
    await this.#agent?.setStatus('draining').catch(() => {});
    await within(finishMs, Promise.allSettled(this.#running));
    this.#stop.abort(handBack());
    await within(farewellMs, Promise.allSettled(this.#running));
    await within(farewellMs, this.#agent?.leave() ?? Promise.resolve());
    log('ended');
  }

  #perform(task: AgentTask, context: TaskContext): Promise<AgentAnswer> {
    if (this.#isEnding) return Promise.reject(handBack());
    const work = this.#work(task, context);
    this.#running.add(work);
    const forget = () => this.#running.delete(work);
    work.then(forget, forget);
    return work;
  }

  async #work(task: AgentTask, { signal, traceparent }: TaskContext): Promise<AgentAnswer> {
    const { log } = this.#options;
    const startedAtMs = Date.now();
    const [own, done] = [new AbortController(), new AbortController()];
    const all = AbortSignal.any([signal, own.signal, this.#stop.signal]);
    const tell = (text: string) => log(`task ${task.taskId}: ${text}`);
    tell(`${task.type} begins`);
    this.#watch(task.taskId, { done: done.signal, callOff: (why) => own.abort(why) });
    try {
      const job = this.#jobOf(task, { signal: all, traceparent, tell });
      const answer = storable(await this.#do(job, task));
      tell(`done after ${Date.now() - startedAtMs} ms`);
      return answer;
    } catch (error) {
      const fault = this.#faultOf(error, all);
      tell(`failed after ${Date.now() - startedAtMs} ms: ${fault.message}`);
      throw this.#isFromStudio(task.askedBy) ? withReason(fault) : fault;
    } finally {
      done.abort();
    }
  }

  /** Who is not the studio gets answers, and nothing of the workspace. */
  async #do(job: Job, { askedBy }: AgentTask): Promise<AgentAnswer> {
    if (this.#isFromStudio(askedBy)) return this.#template.perform(job);
    if (job.type === 'deploy' || job.type === 'test') {
      throw new Fault('forbidden', 'Only the studio gives this agent tasks in its workspace.');
    }
    return answerPrompt(job);
  }

  /** The agent's own name at auth begins with the name of the service that made its key. */
  #isFromStudio(askedBy: string | undefined): boolean {
    const own = this.#credential.subject;
    return own !== undefined && askedBy !== undefined && own.startsWith(`${askedBy}-`);
  }

  #watch(
    taskId: string,
    { done, callOff }: { readonly done: AbortSignal; readonly callOff: (why: Fault) => void },
  ): void {
    const calls = this.#agent?.calls;
    if (calls) void watchTask(calls, taskId, { signal: done, callOff });
  }

  #jobOf(
    task: AgentTask,
    given: Pick<Job, 'signal' | 'tell'> & { readonly traceparent: string | undefined },
  ): Job {
    const { urls } = this.#options.identity;
    const { signal, tell, traceparent } = given;
    const untilMs = Date.now() + task.timeout;
    const { token, forget: forgetToken } = this.#credential;
    const callsOf = (service: keyof typeof urls) =>
      new SuiteCalls({ service, url: urls[service], token, forgetToken, signal, traceparent });
    const input = readInput(task.input);
    const isOwn = this.#isFromStudio(task.askedBy);
    const workspace = isOwn ? this.#workspaceOf(callsOf('studio')) : undefined;
    return {
      type: task.type,
      input,
      ...(workspace ? { workspace } : {}),
      model: new Model(callsOf('gateway'), input.model),
      tools: new RegistryTools(callsOf('registry'), isOwn ? (input.tools ?? []) : []),
      timeLeftMs: () => Math.max(0, untilMs - Date.now()),
      signal,
      tell,
    };
  }

  #workspaceOf(calls: SuiteCalls): JobWorkspace | undefined {
    const { agentId, folder, workspaceId } = this.#options.identity;
    if (workspaceId === undefined) return undefined;
    const door = new WorkspaceDoor({ calls, workspaceId, agentId });
    return {
      door,
      ...(folder === undefined ? {} : { folder }),
      testCommand: async () => (await door.settings()).testCommand,
    };
  }

  /** What the asker is told: a Fault's own sentence, and no inner details of anything else. */
  #faultOf(error: unknown, signal: AbortSignal): Fault {
    if (signal.aborted) return Fault.from(signal.reason);
    if (error instanceof Fault) return error;
    this.#options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return new Fault('internal', 'The agent failed for a reason of its own; its log says more.');
  }
}

/** As the studio reads it; what hands a task back stays what it is. */
function withReason(fault: Fault): Fault {
  const { code, reason, cause } = fault;
  const isOwnEnd = code === 'cancelled' || reason === handBack().reason;
  return isOwnEnd ? fault : new Fault(code, tellFailure(fault), { cause });
}

/** Others than the studio may ask, and write what they like. */
function readInput(given: Readonly<Record<string, unknown>>): AgentTaskInput {
  const { studioTaskId, prompt, context, model, tools } = given;
  const names = Array.isArray(tools) ? tools.filter((one) => typeof one === 'string') : [];
  return {
    studioTaskId: typeof studioTaskId === 'string' ? studioTaskId : '',
    ...(typeof prompt === 'string' ? { prompt } : {}),
    ...(typeof context === 'object' && context !== null ? { context: { ...context } } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    tools: names,
  };
}

/** Waits for it, but no longer. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const clock = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, clock]);
  clearTimeout(timer);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Egress } from '../../kit/egress/egress.ts';
import { readRetryAfter } from '../../kit/time/retry-after.ts';
import type { Agent } from '../agents/agent.ts';
import { askAgent, jsonOf, tellAgent } from '../tasks/agent-http.ts';
import {
  CallFailure,
  fieldOf,
  hasField,
  notStarted,
  outcomeUnknown,
  shortText,
  taskRefused,
  type AgentCall,
  type AgentCaller,
} from '../tasks/caller.ts';
import {
  methods,
  readFiles,
  readParts,
  readState,
  rpcErrors,
  writePart,
  type A2aVersion,
  type PlainPart,
} from './wire.ts';

const pollMsMin = 100;
const pollMsMax = 2_000;
const rememberedMax = 10_000;

/**
 * Calls agents over A2A's JSON-RPC, in the version that their card names. Where it names none, 1.0 is
 * tried, and 0.3 once the agent says that it does not know 1.0.
 */
export class A2aCaller implements AgentCaller {
  readonly #egress: Pick<Egress, 'fetch'>;
  /** By address: what was found out. */
  readonly #versions = new Map<string, A2aVersion>();
  /** The agent's own name of a task that runs. */
  readonly #remoteIds = new Map<string, string>();

  constructor(egress: Pick<Egress, 'fetch'>) {
    this.#egress = egress;
  }

  async execute(call: AgentCall): Promise<unknown> {
    const version = this.#versionOf(call.agent);
    try {
      return await this.#send(call, version);
    } catch (error) {
      if (version === '0.3' || !isUnknownMethod(error)) throw error;
      const result = await this.#send(call, '0.3');
      if (this.#versions.size >= rememberedMax) this.#versions.clear();
      this.#versions.set(urlOf(call.agent), '0.3');
      return result;
    } finally {
      // A cancellation follows at once, in the same turn or the next.
      setTimeout(() => this.#remoteIds.delete(call.task.taskId), 1_000).unref();
    }
  }

  async cancel({ agent, task }: AgentCall): Promise<void> {
    const id = this.#remoteIds.get(task.taskId);
    if (id === undefined) return;
    const version = this.#versionOf(agent);
    await tellAgent(this.#egress, {
      url: urlOf(agent),
      method: 'POST',
      headers: headersOf(version),
      body: JSON.stringify(rpcRequest(methods.cancel[version], { id })),
    });
  }

  #versionOf(agent: Agent): A2aVersion {
    return agent.endpoints.a2aVersion ?? this.#versions.get(urlOf(agent)) ?? '1.0';
  }

  async #send(call: AgentCall, version: A2aVersion): Promise<unknown> {
    const sent = await this.#ask(call, version, {
      method: methods.send[version],
      params: messageParams(call, version),
    });
    // 1.0 wraps what 0.3 tells apart by `kind`.
    const message = fieldOf(sent, 'message') ?? (hasField(sent, 'parts') ? sent : undefined);
    if (message !== undefined) return resultOfParts(fieldOf(message, 'parts'));
    return this.#follow(call, version, fieldOf(sent, 'task') ?? sent);
  }

  /** Asks for a task until it has ended. */
  async #follow(call: AgentCall, version: A2aVersion, first: unknown): Promise<unknown> {
    let task = first;
    for (let waitMs = pollMsMin; isRunning(task); waitMs = Math.min(waitMs * 2, pollMsMax)) {
      const id = fieldOf(task, 'id');
      if (typeof id !== 'string') throw invalidAnswer(call.agent);
      this.#remoteIds.set(call.task.taskId, id);
      await sleep(waitMs, undefined, { signal: call.signal }).catch(() =>
        call.signal.throwIfAborted(),
      );
      const got = await this.#ask(call, version, { method: methods.get[version], params: { id } });
      task = fieldOf(got, 'task') ?? got;
    }
    return resultOfTask(call.agent, task);
  }

  async #ask(
    call: AgentCall,
    version: A2aVersion,
    { method, params }: { readonly method: string; readonly params: unknown },
  ): Promise<unknown> {
    const { agent, traceparent, task } = call;
    const answer = await askAgent(this.#egress, call, {
      url: urlOf(agent),
      method: 'POST',
      headers: { ...headersOf(version), traceparent, 'idempotency-key': task.taskId },
      body: JSON.stringify(rpcRequest(method, params)),
    });
    const { status } = answer;
    const detail = { agentStatus: status };
    if (status === 429 || status === 503) {
      const retryAfter = readRetryAfter(answer.headers.get('retry-after'));
      throw notStarted(agent, 'agent_busy', { detail, ...(retryAfter && { retryAfter }) });
    }
    if (status >= 500) throw outcomeUnknown(agent, 'the agent failed', { detail });
    const body = jsonOf(agent, answer);
    if (hasField(body, 'error')) throw rpcFailure(agent, fieldOf(body, 'error'));
    if (status >= 400) {
      throw taskRefused(agent, `the agent refused the task with status ${status}`, { detail });
    }
    if (!hasField(body, 'result')) throw invalidAnswer(agent);
    return fieldOf(body, 'result');
  }
}

function urlOf({ endpoints }: Agent): string {
  return endpoints.a2a ?? '';
}

function headersOf(version: A2aVersion): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'a2a-version': version,
  };
}

function rpcRequest(method: string, params: unknown) {
  return { jsonrpc: '2.0', id: 1, method, params };
}

function messageParams({ task }: AgentCall, version: A2aVersion) {
  const { taskId, type, input, priority, timeoutMs } = task;
  const { prompt } = input;
  const { prompt: _, ...rest } = input;
  const parts: PlainPart[] = [
    ...(typeof prompt === 'string' ? [{ text: prompt }] : []),
    ...(typeof prompt === 'string' && Object.keys(rest).length === 0 ? [] : [{ data: input }]),
  ];
  const message = {
    messageId: taskId,
    role: version === '1.0' ? 'ROLE_USER' : 'user',
    parts: parts.map((part) => writePart(part, version)),
    ...(version === '0.3' && { kind: 'message' }),
  };
  const configuration = version === '1.0' ? { returnImmediately: false } : { blocking: true };
  const metadata = { mesh: { taskId, type, priority, timeout: timeoutMs } };
  return { message, configuration, metadata };
}

function isRunning(task: unknown): boolean {
  const state = stateOf(task);
  return state === 'submitted' || state === 'working';
}

function stateOf(task: unknown): string {
  return readState(fieldOf(fieldOf(task, 'status'), 'state'));
}

function resultOfTask(agent: Agent, task: unknown): unknown {
  const state = stateOf(task);
  const said = fieldOf(fieldOf(fieldOf(task, 'status'), 'message'), 'parts');
  if (state === 'completed') {
    const artifacts = fieldOf(task, 'artifacts');
    const parts = Array.isArray(artifacts)
      ? artifacts.flatMap((artifact: unknown) => fieldOf(artifact, 'parts') ?? [])
      : [];
    return resultOfParts(parts.length > 0 ? parts : said);
  }
  if (state === '') throw invalidAnswer(agent);
  const text = shortText(textOf(readParts(said)));
  throw taskRefused(agent, `the agent ended the task as ${state}`, {
    detail: { agentState: state, ...(text && { agentError: text }) },
  });
}

/** A lone piece of data is the result itself; texts are joined. */
function resultOfParts(given: unknown): unknown {
  const parts = readParts(given);
  const files = readFiles(given);
  const all = parts.flatMap((part) => ('data' in part ? [part.data] : []));
  const data = all.length === 1 ? all[0] : all;
  const text = textOf(parts);
  if (text === undefined && files.length === 0) return all.length === 1 ? data : { data };
  return {
    ...(text !== undefined && { text }),
    ...(all.length > 0 && { data }),
    ...(files.length > 0 && { files }),
  };
}

function textOf(parts: readonly PlainPart[]): string | undefined {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}

class UnknownMethod extends CallFailure {}

function isUnknownMethod(error: unknown): boolean {
  return error instanceof UnknownMethod;
}

function rpcFailure(agent: Agent, error: unknown): CallFailure {
  const code = fieldOf(error, 'code');
  const text = shortText(fieldOf(error, 'message'));
  const detail = { agentCode: code, ...(text && { agentError: text }) };
  const refused = taskRefused(agent, 'the agent refused the task', { detail });
  if (code === rpcErrors.methodNotFound || code === rpcErrors.versionNotSupported) {
    return new UnknownMethod('refused', refused.fault);
  }
  if (code === rpcErrors.internal) return outcomeUnknown(agent, 'the agent failed', { detail });
  return refused;
}

function invalidAnswer(agent: Agent): CallFailure {
  return outcomeUnknown(agent, 'the agent answered what A2A does not know', {
    reason: 'invalid_answer',
  });
}

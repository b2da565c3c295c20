import { setTimeout as sleep } from 'node:timers/promises';
import type { Egress, EgressResponse } from '../../kit/egress/egress.ts';
import { readRetryAfter } from '../../kit/time/retry-after.ts';
import type { Agent } from '../agents/agent.ts';
import { askAgent, jsonOf, tellAgent } from './agent-http.ts';
import {
  agentErrorOf,
  fieldOf,
  hasField,
  notStarted,
  outcomeUnknown,
  taskRefused,
  type AgentCall,
  type AgentCaller,
} from './caller.ts';

const pollMsMin = 100;
const pollMsMax = 2_000;

/** Calls agents that take tasks at `{rest}/tasks`. */
export class RestCaller implements AgentCaller {
  readonly #egress: Pick<Egress, 'fetch'>;

  constructor(egress: Pick<Egress, 'fetch'>) {
    this.#egress = egress;
  }

  async execute(call: AgentCall): Promise<unknown> {
    const { task } = call;
    const { taskId, type, input, priority } = task;
    const timeout = remainingMs(call);
    const answer = await askAgent(this.#egress, call, {
      url: tasksUrl(call),
      method: 'POST',
      headers: {
        ...headersOf(call),
        'content-type': 'application/json',
        'idempotency-key': taskId,
        'x-mesh-deadline-ms': String(timeout),
      },
      body: JSON.stringify({ taskId, type, input, timeout, priority }),
    });
    return answer.status === 202 ? this.#poll(call, answer) : resultOf(call, answer);
  }

  async cancel(call: AgentCall): Promise<void> {
    await tellAgent(this.#egress, {
      url: `${tasksUrl(call)}/${call.task.taskId}`,
      method: 'DELETE',
      headers: headersOf(call),
    });
  }

  /** Asks again until there is a result; the caller's signal bounds it. */
  async #poll(call: AgentCall, accepted: EgressResponse): Promise<unknown> {
    const url = pollUrl(call, jsonOf(call.agent, accepted));
    let answer = accepted;
    for (let waitMs = pollMsMin; answer.status === 202; waitMs = Math.min(waitMs * 2, pollMsMax)) {
      const wished = readRetryAfter(answer.headers.get('retry-after'));
      const pauseMs = wished === undefined ? waitMs : Math.max(wished * 1_000, pollMsMin);
      await pause(pauseMs, call.signal);
      answer = await askAgent(this.#egress, call, { url, headers: headersOf(call) });
    }
    if (answer.status === 429 || answer.status === 503) {
      throw outcomeUnknown(call.agent, 'the agent lost the task', statusDetail(answer));
    }
    return resultOf(call, answer);
  }
}

/** Waits; rejects with the signal's reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function remainingMs({ deadlineAtMs }: AgentCall): number {
  return Math.max(1, deadlineAtMs - Date.now());
}

function tasksUrl({ agent }: AgentCall): string {
  return `${(agent.endpoints.rest ?? '').replace(/\/+$/, '')}/tasks`;
}

function headersOf({ traceparent }: AgentCall): Readonly<Record<string, string>> {
  return { accept: 'application/json', traceparent };
}

/** Where to ask for the result: on the agent's own origin, for another one never registered. */
function pollUrl(call: AgentCall, body: unknown): string {
  const base = `${tasksUrl(call)}/${call.task.taskId}`;
  const poll = fieldOf(body, 'poll');
  if (typeof poll !== 'string') return base;
  const url = URL.canParse(poll, base) ? new URL(poll, base) : undefined;
  if (url && url.origin === new URL(base).origin) return url.href;
  throw outcomeUnknown(call.agent, 'the agent wants to be asked at a foreign address', {
    reason: 'invalid_answer',
  });
}

function resultOf({ agent }: AgentCall, answer: EgressResponse): unknown {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return unwrapped(jsonOf(agent, answer));
  if (status === 429 || status === 503) {
    const retryAfter = readRetryAfter(headers.get('retry-after'));
    throw notStarted(agent, 'agent_busy', retryAfter === undefined ? {} : { retryAfter });
  }
  const body = softJson(agent, answer);
  // A repeated task is answered with what came of it before.
  if (status === 409 && hasField(body, 'result')) return unwrapped(body);
  const options = statusDetail(answer, body);
  if (status >= 500 || status === 408) throw outcomeUnknown(agent, 'the agent failed', options);
  throw taskRefused(agent, `the agent refused the task with status ${status}`, options);
}

function statusDetail({ status }: EgressResponse, body?: unknown) {
  const agentError = agentErrorOf(body);
  return { detail: { agentStatus: status, ...(agentError && { agentError }) } };
}

function softJson(agent: Agent, answer: EgressResponse): unknown {
  try {
    return jsonOf(agent, answer);
  } catch {
    return undefined;
  }
}

function unwrapped(body: unknown): unknown {
  return hasField(body, 'result') ? fieldOf(body, 'result') : body;
}

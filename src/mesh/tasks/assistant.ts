import type { Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { parseTraceparent } from '../../kit/trace/trace-context.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import type { gatewayContract } from '../../gateway/contract.ts';
import { joinMesh, type AgentTask, type MeshAgent, type TaskContext } from '../agent.ts';
import type { TokenSource } from '../client/mesh-calls.ts';
import type { OpenServing } from '../client/serving.ts';
import type { LocalAgents } from './local-agents.ts';

export const assistantId = 'assistant-1';

export interface AssistantOptions {
  /** Of the mesh itself; it need not listen yet. */
  readonly meshUrl: string;
  /** The mesh's own; needs `mesh:communicate`. */
  readonly token: TokenSource;
  readonly gateway: Pick<Client<typeof gatewayContract>, 'completions'>;
  readonly local: LocalAgents;
  readonly tracer: Tracer;
  readonly version: string;
  readonly log: Log;
}

/** What the assistant is told to be, by the capability that a task asks for. */
const roles: Readonly<Record<string, string | undefined>> = {
  chat: undefined,
  summarization:
    'You summarize. Answer with a short summary of what the user sends, and with nothing else.',
  'code-generation':
    'You write code. Answer with the code that the user asks for and the least explanation it needs.',
};

/**
 * Starts the agent that every mesh brings: it works through the gateway. Each replica has it in its
 * own process, so a task for it leaves the process only for the gateway.
 */
export function startAssistant(options: AssistantOptions): AsyncDisposable {
  const stop = new AbortController();
  const joining = join(options, stop.signal).catch((err: unknown) => {
    if (!stop.signal.aborted) options.log.warn({ err }, `${assistantId} could not join the mesh`);
    return undefined;
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      const agent = await joining;
      await agent?.leave();
    },
  };
}

function join(options: AssistantOptions, signal: AbortSignal): Promise<MeshAgent> {
  const { meshUrl: url, token, version, local } = options;
  return joinMesh({
    url,
    token,
    agentId: assistantId,
    capabilities: Object.keys(roles),
    metadata: { version, description: 'Works through the gateway.' },
    // An answer of a model may be asked for twice: nothing but its price is done twice.
    isIdempotent: true,
    concurrency: 64,
    serving: servingIn(local),
    staysRegistered: true,
    joinTimeoutMs: Infinity,
    signal,
    onTask: (task, context) => complete(options, task, context),
  });
}

/** Takes tasks inside the process. */
function servingIn(local: LocalAgents): OpenServing {
  return async ({ agentId, desk }) => {
    const leave = local.host(agentId, async (task, { signal, traceparent }) => {
      const { taskId, timeoutMs: timeout, ...rest } = task;
      const cancel = () => desk.cancel(taskId);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        return await desk.perform({ ...rest, taskId, timeout, traceparent });
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    });
    return { endpoints: {}, begin: () => {}, close: async () => leave() };
  };
}

async function complete(
  { gateway, tracer }: AssistantOptions,
  { type, input, timeout, taskId }: AgentTask,
  { signal, traceparent }: TaskContext,
) {
  const span = {
    parent: parseTraceparent(traceparent),
    attributes: { 'agent.id': assistantId, 'mesh.task.id': taskId },
  };
  return tracer.within(`${assistantId} ${type}`, span, async (parent) => {
    const body = { model: modelOf(input), messages: messagesOf(type, input), ...limitOf(input) };
    const options = { parent, signal, timeoutMs: timeout };
    const { choices, model, provider, usage } = await gateway.completions({ body }, options);
    const text = choices[0]?.message.content ?? '';
    return { text, model, ...(provider !== undefined && { provider }), usage };
  });
}

function messagesOf(type: string, { prompt, context, messages, text }: AgentTask['input']) {
  const role = roles[type];
  const system = role === undefined ? [] : [{ role: 'system', content: role }];
  if (Array.isArray(messages) && messages.length > 0) {
    // The gateway checks them, with better words than could be found here.
    return [...system, ...(messages as { readonly role: string; readonly content: string }[])];
  }
  const content = prompt ?? text;
  if (typeof content !== 'string' || content === '') {
    throw new Fault('invalid', 'the task has no input.prompt');
  }
  const known = contextOf(context);
  return [...system, ...known, { role: 'user', content }];
}

function contextOf(context: unknown) {
  if (context === undefined || context === null || context === '') return [];
  const isEmpty = typeof context === 'object' && Object.keys(context).length === 0;
  if (isEmpty) return [];
  const content = typeof context === 'string' ? context : JSON.stringify(context);
  return [{ role: 'system', content: `Context of the task:\n${content}` }];
}

function modelOf({ model }: AgentTask['input']): string {
  return typeof model === 'string' && model !== '' ? model : 'auto-route';
}

function limitOf(input: AgentTask['input']) {
  const limit = input['max_tokens'] ?? input['maxTokens'];
  return typeof limit === 'number' && Number.isInteger(limit) && limit > 0
    ? { max_tokens: limit }
    : {};
}

import { requirePermission } from '../../kit/permissions.ts';
import { ownerOf } from '../conversations/conversation.ts';
import type { Caller } from '../caller.ts';
import type {
  Orchestration,
  Orchestrations,
  OrchestrationStep,
} from '../orchestrations/orchestration.ts';
import { clarify, type Deed, type VoiceAction } from './action.ts';
import type { AgentList, KnownAgent } from './mesh-agents.ts';
import { quote, sayAnswer, sayCount, sayList, soundOf } from './speech.ts';
import type { VoiceSession } from './voice-sessions.ts';

export interface AgentCommandParts {
  readonly agents: AgentList;
  readonly orchestrations: Pick<Orchestrations, 'start' | 'find'>;
}

type ActionOf<Name extends VoiceAction['action']> = Extract<VoiceAction, { action: Name }>;

const taskTimeoutMs = 300_000;
const workPermissions = ['agent:execute', 'mesh:communicate'] as const;

/** Commands about the mesh's agents. */
export class AgentCommands {
  readonly #parts: AgentCommandParts;

  constructor(parts: AgentCommandParts) {
    this.#parts = parts;
  }

  async list(caller: Caller): Promise<Deed> {
    const { agents, total } = await this.#parts.agents.list(caller);
    const active = agents.filter(({ status }) => status !== 'offline');
    const named =
      agents.length === 0
        ? ''
        : `: ${sayList(
            agents.map(({ name }) => name),
            total,
          )}`;
    const all = active.length === total ? '' : `, ${active.length} of them not offline`;
    const speech = `There ${total === 1 ? 'is' : 'are'} ${sayCount(total, 'agent')}${all}${named}.`;
    return { action: 'list_agents', speech };
  }

  /** Undefined where it was only guessed that an agent is meant, and there is none of the name. */
  async status(
    caller: Caller,
    { name, isGuess }: ActionOf<'agent_status'>,
  ): Promise<Deed | undefined> {
    const found = await this.#named(caller, name);
    if ('speech' in found) return isGuess ? undefined : found;
    const can = found.capabilities.length === 0 ? '' : `, and does ${sayList(found.capabilities)}`;
    const load = `a load of ${Math.round(found.load * 100)} percent`;
    const speech = `${found.name} is ${found.status}, has ${load}${can}.`;
    return { action: 'agent_status', speech };
  }

  async ask(
    caller: Caller,
    session: VoiceSession,
    { name, task }: ActionOf<'ask_agent'>,
  ): Promise<Deed> {
    requirePermission(caller.identity.permissions, workPermissions);
    const found = await this.#named(caller, name);
    if ('speech' in found) return found;
    const { agentId } = found;
    const started = await this.#parts.orchestrations.start(caller, {
      task,
      agents: [agentId],
      isParallel: true,
      timeoutMs: taskTimeoutMs,
    });
    session.orchestrationId = started.id;
    const speech = `${found.name} has the task now. Ask me how far it is.`;
    return { action: 'ask_agent', speech };
  }

  /** How far the session's last task is. */
  async progress(caller: Caller, session: VoiceSession): Promise<Deed> {
    const { orchestrationId } = session;
    if (orchestrationId === undefined) return clarify('You gave no agent a task yet.');
    const found = await this.#parts.orchestrations.find(ownerOf(caller), orchestrationId);
    return { action: 'task_status', speech: sayProgress(found) };
  }

  async #named(caller: Caller, name: string): Promise<KnownAgent | Deed> {
    const { agents } = await this.#parts.agents.list(caller);
    const wanted = soundOf(name);
    const found = agents.filter(
      (one) => soundOf(one.name) === wanted || soundOf(one.agentId) === wanted,
    );
    const [first] = found;
    if (!first) return { action: 'not_found', speech: `I know no agent called ${quote(name)}.` };
    if (found.length === 1) return first;
    const ids = found.map(({ agentId }) => agentId);
    return clarify(`There are ${found.length} such agents: ${sayList(ids)}. Which one?`);
  }
}

function sayProgress({ status, progress, steps }: Orchestration): string {
  const [step] = steps;
  if (status === 'running') {
    return `${step?.name ?? 'It'} still works on it: ${Math.round(progress * 100)} percent are done.`;
  }
  if (step?.status === 'completed') return `${step.name} says: ${sayAnswer(resultText(step))}`;
  const reason = step?.error ? `: ${step.error.message}` : '';
  return `The task ${status === 'cancelled' ? 'was cancelled' : 'failed'}${reason}.`;
}

/** A text as it is, or the first text in an object; else its JSON. */
function resultText({ result }: OrchestrationStep): string {
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null) {
    const text = Object.values(result).find((value) => typeof value === 'string');
    if (typeof text === 'string') return text;
  }
  return result === undefined ? 'nothing' : JSON.stringify(result);
}

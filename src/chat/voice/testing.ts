import { Fault } from '../../kit/errors.ts';
import { testIdentity } from '../../kit/identity/testing.ts';
import { newId } from '../../kit/ids.ts';
import { silentLog } from '../../kit/testing.ts';
import type { Caller } from '../caller.ts';
import type { Conversation, ConversationChange, Message } from '../conversations/conversation.ts';
import type { Orchestration, OrchestrationRequest } from '../orchestrations/orchestration.ts';
import type { ConversationHit } from '../search/search.ts';
import type { ListedTool } from '../tools/listed-tool.ts';
import type { TurnEvent, TurnRequest } from '../turns/turn.ts';
import type { VoiceAction } from './action.ts';
import type { KnownAgent } from './mesh-agents.ts';
import { SpokenCommands } from './spoken-commands.ts';
import { VoiceSession, type VoiceSessions } from './voice-sessions.ts';

/** Who speaks in tests. */
export function aCaller(subject: string, permissions: readonly string[] = []): Caller {
  const identity = testIdentity(subject, permissions);
  return { identity, credential: `token-of-${subject}` };
}

/** An event without its number. */
export type Happening = TurnEvent extends infer E
  ? E extends TurnEvent
    ? Omit<E, 'seq'>
    : never
  : never;

export const says = (content: string): Happening[] => [
  { type: 'begun', messageId: 'msg_1', model: 'm' },
  { type: 'delta', content },
  { type: 'ended', status: 'completed', finishReason: 'stop', messageId: 'msg_1', model: 'm' },
];

const notFound = () =>
  new Fault('not_found', 'there is no such conversation', { reason: 'conversation_not_found' });

/** Conversations in memory, as far as commands need them. */
class MemoryConversations {
  readonly all: Conversation[] = [];
  readonly said: Message[] = [];

  create = async (ownerId: string, { title = 'New' }: ConversationChange = {}) => {
    const id = `cnv_${this.all.length + 1}`;
    const base = { messageCount: 0, totalTokens: 0, cost: 0, createdAtMs: 0, updatedAtMs: 0 };
    const made = { id, ownerId, title, ...base };
    this.all.unshift(made);
    return made;
  };
  find = async (ownerId: string, id: string) => {
    const found = this.all.find((one) => one.ownerId === ownerId && one.id === id);
    if (found) return found;
    throw notFound();
  };
  list = async (ownerId: string, page: { readonly limit: number; readonly offset: number }) => {
    const own = this.all.filter((one) => one.ownerId === ownerId);
    const conversations = own.slice(page.offset, page.offset + page.limit);
    return { conversations, total: own.length };
  };
  change = async (ownerId: string, id: string, change: ConversationChange) => {
    const changed = { ...(await this.find(ownerId, id)), ...change };
    this.all[this.all.findIndex((one) => one.id === id)] = changed;
    return changed;
  };
  remove = async (ownerId: string, id: string) => {
    const found = await this.find(ownerId, id);
    this.all.splice(this.all.indexOf(found), 1);
  };
  messages = async (ownerId: string, id: string) => {
    await this.find(ownerId, id);
    return this.said.filter(({ conversationId }) => conversationId === id);
  };
}

/** Turns that happen as a test says. */
class ScriptedTurns {
  readonly begun: TurnRequest[] = [];
  readonly approvals: unknown[] = [];
  /** What the next turns do; the last one stays. */
  scripts: (readonly Happening[] | Fault)[] = [says('Hello.')];
  /** What follows an approval. */
  afterApproval: readonly Happening[] = says('Done.');
  isRunning = false;
  #events: TurnEvent[] = [];

  begin = async (request: TurnRequest) => {
    const script = (this.scripts.length > 1 ? this.scripts.shift() : this.scripts[0]) ?? [];
    if (script instanceof Fault) throw script;
    this.begun.push(request);
    this.#events = number(script, 0);
    return this.#turn(request.conversationId);
  };
  approve = async (_caller: Caller, _turnId: string, answers: unknown) => {
    this.approvals.push(answers);
    this.#events.push(...number(this.afterApproval, this.#events.length));
    return this.#turn(undefined);
  };
  stop = async () => {
    const was = this.isRunning;
    this.isRunning = false;
    return was;
  };
  /** Goes on until it is over, as the real one does. */
  async *follow(_turn: unknown, after: number, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    for (const event of this.#events.slice(after)) yield event;
    if (this.#events.some(({ type }) => type === 'ended' || type === 'failed')) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }

  #turn(conversationId: string | undefined) {
    const base = { ownerId: 'usr', status: 'running', messageId: 'msg_1', model: 'm' } as const;
    return { id: 'trn_1', ...base, createdAtMs: 0, ...(conversationId && { conversationId }) };
  }
}

function number(script: readonly Happening[], from: number): TurnEvent[] {
  return script.map((event, index) => ({ ...event, seq: from + index + 1 }));
}

/** Sessions in memory, which nobody forgets. */
class MemorySessions implements VoiceSessions {
  readonly #sessions = new Map<string, VoiceSession>();

  open = async (ownerId: string, id = newId('vse')) =>
    this.#sessions.get(`${ownerId} ${id}`) ?? new VoiceSession(id);
  save = async (ownerId: string, session: VoiceSession) =>
    void this.#sessions.set(`${ownerId} ${session.id}`, session);
}

/** Spoken commands over counterparts that a test scripts. */
export function openVoice() {
  const conversations = new MemoryConversations();
  const turns = new ScriptedTurns();
  const ground = {
    conversations,
    turns,
    agents: [] as KnownAgent[],
    hits: [] as ConversationHit[],
    tools: [] as ListedTool[],
    started: [] as OrchestrationRequest[],
    orchestration: undefined as Orchestration | undefined,
    /** What a model takes commands for. */
    sorted: undefined as VoiceAction | undefined,
    sortings: 0,
    admitted: 0,
  };
  const voice = new SpokenCommands({
    conversations,
    turns,
    search: { findConversations: async () => ground.hits },
    agents: { list: async () => ({ agents: ground.agents, total: ground.agents.length }) },
    orchestrations: {
      start: async (caller, request) => {
        ground.started.push(request);
        return anOrchestration(caller, request);
      },
      find: async () => ground.orchestration ?? Promise.reject(notFound()),
    },
    tools: { list: async () => ground.tools },
    models: { list: async () => [] },
    classifier: {
      classify: async () => {
        ground.sortings += 1;
        return ground.sorted;
      },
    },
    sessions: new MemorySessions(),
    admit: () => {
      ground.admitted += 1;
    },
    answerWaitMs: 400,
    log: silentLog,
  });
  return { ...ground, ground, voice };
}

export function anOrchestration(
  { identity }: Caller,
  { task, agents }: OrchestrationRequest,
): Orchestration {
  const [agentId = ''] = agents;
  return {
    id: 'orc_1',
    ownerId: identity.subject,
    task,
    status: 'running',
    progress: 0,
    steps: [{ agentId, name: agentId, status: 'running' }],
    createdAtMs: 0,
  };
}

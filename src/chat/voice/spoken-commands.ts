import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { requirePermission } from '../../kit/permissions.ts';
import type { Caller } from '../caller.ts';
import { ownerOf } from '../conversations/conversation.ts';
import type { ModelList } from '../models/gateway-models.ts';
import { toolPermissions, type RegistryTools } from '../tools/registry-tools.ts';
import { clarify, sayFault, type Deed, type VoiceAction } from './action.ts';
import { AgentCommands, type AgentCommandParts } from './agent-commands.ts';
import { Answers, type AnswerParts } from './answers.ts';
import type { Classifier } from './classifier.ts';
import { ConversationCommands, type ConversationCommandParts } from './conversation-commands.ts';
import { readAgreement, readCommand } from './grammar.ts';
import { quote, sayCount, sayList } from './speech.ts';
import type { Voice, VoiceCommand, VoiceFeedback } from './voice.ts';
import type { Pending, VoiceSession, VoiceSessions } from './voice-sessions.ts';

export interface SpokenCommandParts extends AgentCommandParts {
  readonly conversations: ConversationCommandParts['conversations'] & AnswerParts['conversations'];
  readonly search: ConversationCommandParts['search'];
  readonly turns: AnswerParts['turns'];
  readonly tools: Pick<RegistryTools, 'list'>;
  readonly models: ModelList;
  readonly classifier: Classifier;
  readonly sessions: VoiceSessions;
  readonly log: Log;
  /** Counts a completion; throws `exhausted` when the caller has had too many. */
  readonly admit: (caller: Caller) => void;
  readonly answerWaitMs?: number;
}

const confidenceMin = 0.5;
/** So long after no model answered it counts as away. */
const absenceMs = 60_000;

const help =
  'You can say: new conversation called X; open, rename or delete conversation X; list my ' +
  'conversations; search my conversations for X; what agents, models or tools are there; status of ' +
  'agent X; ask X to do something; how far is it; stop; read the last answer; or just ask me.';

/**
 * Commands in words, done over what all other ways of chat do them with. What neither the grammar nor
 * a model takes for a command is a question.
 */
export class SpokenCommands implements Voice {
  readonly #parts: SpokenCommandParts;
  readonly #conversations: ConversationCommands;
  readonly #agents: AgentCommands;
  readonly #answers: Answers;
  #absentUntilMs = 0;

  constructor(parts: SpokenCommandParts) {
    this.#parts = parts;
    this.#conversations = new ConversationCommands(parts);
    this.#agents = new AgentCommands(parts);
    this.#answers = new Answers({ ...parts, onModel: (isThere) => this.#noteModel(isThere) });
  }

  /** `degraded`: no model answered of late, so that only the grammar is understood. */
  get status(): 'text-commands' | 'degraded' {
    return Date.now() < this.#absentUntilMs ? 'degraded' : 'text-commands';
  }

  async obey(caller: Caller, command: VoiceCommand): Promise<VoiceFeedback> {
    const session = await this.#parts.sessions.open(ownerOf(caller), command.sessionId);
    const { speech, action, turnId } = await this.#do(caller, session, command);
    await this.#parts.sessions.save(ownerOf(caller), session);
    const { id: sessionId, conversationId } = session;
    return {
      speech,
      action,
      sessionId,
      ...(conversationId === undefined ? {} : { conversationId }),
      ...(turnId === undefined ? {} : { turnId }),
    };
  }

  async #do(caller: Caller, session: VoiceSession, command: VoiceCommand): Promise<Deed> {
    const transcription = command.transcription.trim();
    if (transcription === '') return clarify('I heard nothing. Say it again, please.');
    if (!(command.confidence >= confidenceMin)) return askAgain(session, transcription);
    try {
      return await this.#answerOrObey(caller, session, transcription);
    } catch (error) {
      if (error instanceof Fault && error.reason === 'conversation_not_found') {
        session.conversationId = undefined;
      }
      return sayFault(error);
    }
  }

  async #answerOrObey(caller: Caller, session: VoiceSession, transcription: string): Promise<Deed> {
    const agreement = readAgreement(transcription);
    const pending = session.takePending();
    if (pending && agreement !== undefined) {
      return this.#settle(caller, session, { pending, isApproved: agreement });
    }
    if (agreement === true) return clarify('There is nothing to say yes to. What shall I do?');
    return this.#obeyWords(caller, session, transcription);
  }

  async #settle(
    caller: Caller,
    session: VoiceSession,
    { pending, isApproved }: { readonly pending: Pending; readonly isApproved: boolean },
  ): Promise<Deed> {
    if (pending.kind === 'approval') {
      return this.#answers.approve(caller, session, { pending, isApproved });
    }
    if (!isApproved) return { action: 'cancel', speech: 'I leave it as it is.' };
    if (pending.kind === 'command') return this.#obeyWords(caller, session, pending.transcription);
    return this.#conversations.delete(caller, session, pending);
  }

  async #obeyWords(caller: Caller, session: VoiceSession, text: string): Promise<Deed> {
    const spoken = readCommand(text);
    const done = spoken && (await this.#perform(caller, session, spoken));
    if (done) return done;
    const sorted = await this.#classify(caller, text);
    const deed = sorted && (await this.#perform(caller, session, sorted));
    return deed ?? this.#answers.ask(caller, session, { action: 'answer', text });
  }

  /** Undefined where an action turns out not to be what was meant. */
  async #perform(
    caller: Caller,
    session: VoiceSession,
    action: VoiceAction,
  ): Promise<Deed | undefined> {
    switch (action.action) {
      case 'list_agents':
        return this.#agents.list(caller);
      case 'agent_status':
        return this.#agents.status(caller, action);
      case 'ask_agent':
        return this.#agents.ask(caller, session, action);
      case 'task_status':
        return this.#agents.progress(caller, session);
      case 'stop':
        return this.#answers.stop(caller, session);
      case 'send_message':
        return this.#answers.ask(caller, session, action);
      case 'list_models':
        return this.#listModels(caller);
      case 'list_tools':
        return this.#listTools(caller);
      case 'help':
        return { action: 'help', speech: help };
      default:
        return this.#performOnConversations(caller, session, action);
    }
  }

  #performOnConversations(
    caller: Caller,
    session: VoiceSession,
    action: Extract<VoiceAction, { action: `${string}_conversation${string}` | 'read_answer' }>,
  ): Promise<Deed | undefined> {
    switch (action.action) {
      case 'new_conversation':
        return this.#conversations.create(caller, session, action);
      case 'open_conversation':
        return this.#conversations.open(caller, session, action);
      case 'rename_conversation':
        return this.#conversations.rename(caller, session, action);
      case 'delete_conversation':
        return this.#conversations.askToDelete(caller, session, action);
      case 'list_conversations':
        return this.#conversations.list(caller);
      case 'search_conversations':
        return this.#conversations.search(caller, action);
      default:
        return this.#conversations.read(caller, session);
    }
  }

  async #listModels(caller: Caller): Promise<Deed> {
    const models = await this.#parts.models.list(caller);
    return {
      action: 'list_models',
      speech: sayThings(
        'model',
        models.map(({ name }) => name),
      ),
    };
  }

  async #listTools(caller: Caller): Promise<Deed> {
    requirePermission(caller.identity.permissions, toolPermissions);
    const tools = await this.#parts.tools.list(caller);
    const names = tools.map(({ id, title }) => title ?? id);
    return { action: 'list_tools', speech: sayThings('tool', names) };
  }

  /** Without a model, or one that can do it, what the grammar does not know is a question. */
  async #classify(caller: Caller, text: string): Promise<VoiceAction | undefined> {
    if (this.status === 'degraded') return undefined;
    this.#parts.admit(caller);
    try {
      return await this.#parts.classifier.classify(caller, text);
    } catch (err) {
      this.#parts.log.debug({ err }, 'no model sorted a spoken command');
      return undefined;
    }
  }

  #noteModel(isThere: boolean): void {
    this.#absentUntilMs = isThere ? 0 : Date.now() + absenceMs;
  }
}

function askAgain(session: VoiceSession, transcription: string): Deed {
  // What the yes may be to is still the same.
  if (readAgreement(transcription) === undefined) session.ask({ kind: 'command', transcription });
  return clarify(`Did you say ${quote(transcription)}? Say yes, or say it again.`);
}

function sayThings(noun: string, names: readonly string[]): string {
  const named = names.length === 0 ? '' : `: ${sayList(names)}`;
  return `There ${names.length === 1 ? 'is' : 'are'} ${sayCount(names.length, noun)}${named}.`;
}

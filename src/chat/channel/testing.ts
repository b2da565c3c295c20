import { EventEmitter, on } from 'node:events';
import type { Contract } from '../../kit/contract.ts';
import { Fault } from '../../kit/errors.ts';
import type { HttpOptions } from '../../kit/http/server.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import type { Conversation, ConversationNews } from '../conversations/conversation.ts';
import type { AgentProgress } from '../orchestrations/orchestration.ts';
import { chatEnvelope } from '../envelope.ts';
import { channelSocketHandlers } from '../routes/channel.ts';
import { channelSockets } from '../schemas/channel.ts';
import type { Turn, TurnEvent, TurnListener, TurnRequest } from '../turns/turn.ts';
import { TurnFeed } from '../turns/turn-feed.ts';
import type { LogEntry } from '../turns/turn-log.ts';
import type { VoiceCommand } from '../voice/voice.ts';
import { openDoors, type DoorParts } from './doors.ts';

export const channelContract = {
  name: 'chat',
  title: 'Channel',
  version: '1.0.0',
  description: 'The channel alone.',
  error: chatEnvelope.schema,
  acceptsSessionCookie: true,
  routes: {},
  sockets: channelSockets,
} as const satisfies Contract;

/** An event without its number. */
type Unnumber<E> = E extends TurnEvent ? Omit<E, 'seq'> : never;
type Unnumbered = Unnumber<TurnEvent>;

/** Turns, conversations and agents by hand: tests say what happens, all replicas hear of it. */
export class ScriptedChat {
  readonly asked: TurnRequest[] = [];
  readonly commands: VoiceCommand[] = [];
  readonly approvals: unknown[] = [];
  /** What every turn answers as soon as it was begun; nothing when absent. */
  script: readonly Unnumbered[] | undefined;
  /** What `begin` rejects with. */
  refusal: Fault | undefined;
  readonly #turnListeners = new Set<TurnListener>();
  readonly #newsListeners = new Set<(news: ConversationNews) => void>();
  readonly #progressListeners = new Set<(progress: AgentProgress) => void>();
  readonly #turns = new Map<string, { turn: Turn; events: TurnEvent[] }>();
  readonly #conversations = new Map<string, Conversation>();
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  readonly turns: DoorParts['turns'] = {
    begin: async (request) => {
      this.asked.push(request);
      if (this.refusal) throw this.refusal;
      const turn = this.addTurn(request.caller.identity.subject, request.conversationId);
      const { script } = this;
      if (script) setImmediate(() => script.forEach((event) => this.tell(turn, event)));
      return turn;
    },
    find: async (ownerId, turnId) => this.#turnOf(ownerId, turnId).turn,
    follow: (turn, after, signal) => this.#follow(turn.id, after, signal),
    stop: async (ownerId, which) => {
      const found = [...this.#turns.values()].find(({ turn }) =>
        'turnId' in which ? turn.id === which.turnId : turn.conversationId === which.conversationId,
      );
      if (found?.turn.ownerId !== ownerId) return false;
      const { messageId, model } = found.turn;
      this.tell(found.turn, {
        type: 'ended',
        status: 'stopped',
        finishReason: 'stop',
        messageId,
        model,
      });
      return true;
    },
    approve: async ({ identity }, turnId, answers) => {
      this.approvals.push(answers);
      return this.#turnOf(identity.subject, turnId).turn;
    },
    listen: (listener) => listenTo(this.#turnListeners, listener),
  };

  readonly feeds: DoorParts['feeds'] = {
    hold: async ({ id }) => {
      const feed = new TurnFeed();
      feed.take((this.#turns.get(id)?.events ?? []).map(entryOf));
      return { feed, [Symbol.dispose]: () => {} };
    },
  };

  readonly conversations: DoorParts['conversations'] = {
    create: async (ownerId, change = {}) => {
      const id = `cnv_${this.#conversations.size + 1}`;
      const now = Date.now();
      const conversation: Conversation = {
        id,
        ownerId,
        title: change.title ?? '',
        ...(change.model === undefined ? {} : { model: change.model }),
        messageCount: 0,
        totalTokens: 0,
        cost: 0,
        createdAtMs: now,
        updatedAtMs: now,
      };
      this.#conversations.set(id, conversation);
      this.tellNews({ type: 'created', ownerId, conversationId: id, conversation });
      return conversation;
    },
    ensure: async () => Promise.reject(new Error('no test of the channel sends a key')),
    find: async (ownerId, id) => {
      const found = this.#conversations.get(id);
      if (found?.ownerId !== ownerId)
        throw new Fault('not_found', 'no such conversation', { reason: 'conversation_not_found' });
      return found;
    },
    remove: async (_ownerId, id) => void this.#conversations.delete(id),
    listen: (listener) => listenTo(this.#newsListeners, listener),
  };

  readonly orchestrations: DoorParts['orchestrations'] = {
    listen: (listener) => listenTo(this.#progressListeners, listener),
  };

  readonly voice: DoorParts['voice'] = {
    obey: async (_caller, command) => {
      this.commands.push(command);
      return { speech: 'done', action: 'stop', sessionId: command.sessionId ?? 'vcs_1' };
    },
  };

  get conversationCount(): number {
    return this.#conversations.size;
  }

  addTurn(ownerId: string, conversationId = 'cnv_1'): Turn {
    const id = `trn_${this.#turns.size + 1}`;
    const turn: Turn = {
      id,
      ownerId,
      status: 'running',
      conversationId,
      messageId: `msg_${id}`,
      model: 'scripted',
      createdAtMs: Date.now(),
    };
    this.#turns.set(id, { turn, events: [] });
    return turn;
  }

  /** The next thing that happens in a turn. */
  tell(turn: Turn, event: Unnumbered): void {
    const events = this.#turns.get(turn.id)?.events ?? [];
    const numbered = { ...event, seq: events.length + 1 } as TurnEvent;
    events.push(numbered);
    this.hear(turn, numbered);
    this.#emitter.emit(turn.id);
  }

  /** An event that is kept nowhere. */
  hear(turn: Turn, event: TurnEvent): void {
    for (const listener of this.#turnListeners) listener(turn, event);
  }

  /** An answer in pieces, from its beginning to its end. */
  answer(turn: Turn, pieces: readonly string[]): void {
    for (const event of answerOf(pieces)) this.tell(turn, event);
  }

  tellNews(news: ConversationNews): void {
    for (const listener of this.#newsListeners) listener(news);
  }

  tellProgress(progress: AgentProgress): void {
    for (const listener of this.#progressListeners) listener(progress);
  }

  #turnOf(ownerId: string, turnId: string) {
    const found = this.#turns.get(turnId);
    if (found?.turn.ownerId === ownerId) return found;
    throw new Fault('not_found', 'there is no such turn', { reason: 'turn_not_found' });
  }

  async *#follow(turnId: string, after: number, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const news = on(this.#emitter, turnId, { signal });
    const events = this.#turns.get(turnId)?.events ?? [];
    for (let at = after; ; at += 1) {
      while (!events[at]) await news.next();
      const event = events[at];
      if (!event) return;
      yield event;
      if (event.type === 'ended' || event.type === 'failed') return;
    }
  }
}

/** The events of an answer in pieces. */
export function answerOf(pieces: readonly string[]): readonly Unnumbered[] {
  const place = { messageId: 'msg_1', model: 'scripted' };
  return [
    { type: 'begun', ...place },
    ...pieces.map((content) => ({ type: 'delta' as const, content })),
    {
      type: 'ended',
      status: 'completed',
      finishReason: 'stop',
      ...place,
      usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
    },
  ];
}

function entryOf(event: TurnEvent): LogEntry {
  if (event.type !== 'delta' && event.type !== 'reasoning') return event;
  return { type: event.type, seq: event.seq, pieces: [event.content] };
}

function listenTo<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export interface ChannelOptions extends Partial<HttpOptions> {
  /** What several replicas share. */
  readonly chat?: ScriptedChat;
  readonly takeCompletion?: () => void;
  readonly introductionMs?: number;
}

/** The channel on a port of its own. */
export async function startChannel({
  chat = new ScriptedChat(),
  takeCompletion = () => {},
  introductionMs,
  ...options
}: ChannelOptions = {}) {
  const { http, issuer, spans } = await createTestServer(channelContract, {
    envelope: chatEnvelope,
    ...options,
  });
  const { turns, feeds, conversations, orchestrations, voice } = chat;
  const domain = { turns, feeds, conversations, orchestrations, voice, introductionMs };
  const tracer = new Tracer((span) => spans.push(span));
  const doors = await openDoors({ ...domain, takeCompletion, http, log: silentLog, tracer });
  http.serve(channelContract, {});
  http.serveSockets(channelContract, channelSocketHandlers(doors));
  const url = await listenAnywhere(http);
  return {
    chat,
    http,
    issuer,
    url,
    doors,
    spans,
    [Symbol.asyncDispose]: async () => {
      await http.close(500);
      await doors[Symbol.asyncDispose]();
    },
  };
}

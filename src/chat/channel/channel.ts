import { recentEntries } from '../../kit/recent-entries.ts';
import type { ConversationNews, Conversations } from '../conversations/conversation.ts';
import type { AgentProgress, Orchestrations } from '../orchestrations/orchestration.ts';
import type { Turn, TurnEvent, Turns } from '../turns/turn.ts';
import { conversationNotices, progressNotice } from './conversation-notices.ts';
import { Notice } from './notice.ts';
import type { Tab } from './tab.ts';
import { placeOf, turnNotice, type AnswerPlace } from './turn-notices.ts';

export interface ChannelParts {
  readonly turns: Pick<Turns, 'listen'>;
  readonly conversations: Pick<Conversations, 'listen'>;
  readonly orchestrations: Pick<Orchestrations, 'listen'>;
  /** Counts a socket of a transport until what it answers is called. */
  readonly socketOpened?: (transport: Transport) => () => void;
}

/** By which protocol a socket came. */
export type Transport = 'websocket' | 'socket.io';

const placesMax = 10_000;

/**
 * Tells every open socket of a user what happens in the user's conversations, and whoever watches an
 * agent its progress. Each replica does so for the sockets that it has.
 */
export class Channel implements Disposable {
  readonly #tabsByOwner = new Map<string, Set<Tab>>();
  readonly #tabsByAgent = new Map<string, Set<Tab>>();
  /** By turn. */
  readonly #places = recentEntries<AnswerPlace>(placesMax);
  readonly #endings: readonly (() => void)[];
  readonly #orchestrations: ChannelParts['orchestrations'];
  readonly #socketOpened: NonNullable<ChannelParts['socketOpened']>;
  #ignoreAgents: (() => void) | undefined;

  constructor({ turns, conversations, orchestrations, socketOpened }: ChannelParts) {
    this.#orchestrations = orchestrations;
    this.#socketOpened = socketOpened ?? (() => () => {});
    this.#endings = [
      turns.listen(
        (turn, event) => this.#tellTurn(turn, event),
        () => this.#tellMissed(),
      ),
      conversations.listen(
        (news) => this.#tellConversation(news),
        () => this.#tellMissed(),
      ),
    ];
  }

  /** Tells a socket everything from now on; answers how to end that. */
  add(tab: Tab, transport: Transport): () => void {
    const socketClosed = this.#socketOpened(transport);
    addTo(this.#tabsByOwner, tab.ownerId, tab);
    return () => {
      removeFrom(this.#tabsByOwner, tab.ownerId, tab);
      for (const agentId of tab.agents ?? []) removeFrom(this.#tabsByAgent, agentId, tab);
      this.#heedAgents();
      tab.close();
      socketClosed();
    };
  }

  /** Tells a socket of an agent's progress, as far as its user may see it. */
  watch(tab: Tab, agentId: string): void {
    if (tab.isClosed) return;
    tab.agents ??= new Set();
    tab.agents.add(agentId);
    addTo(this.#tabsByAgent, agentId, tab);
    this.#heedAgents();
  }

  unwatch(tab: Tab, agentId: string): void {
    tab.agents?.delete(agentId);
    removeFrom(this.#tabsByAgent, agentId, tab);
    this.#heedAgents();
  }

  [Symbol.dispose](): void {
    for (const end of this.#endings) end();
    this.#ignoreAgents?.();
  }

  /** Who listens has the mesh watched: only while a socket wants to know. */
  #heedAgents(): void {
    const isWanted = this.#tabsByAgent.size > 0;
    if (isWanted === (this.#ignoreAgents !== undefined)) return;
    this.#ignoreAgents?.();
    this.#ignoreAgents = isWanted
      ? this.#orchestrations.listen((progress) => this.#tellProgress(progress))
      : undefined;
  }

  #tellTurn(turn: Turn, event: TurnEvent): void {
    // A turn of no conversation is nobody's but its caller's.
    if (turn.conversationId === undefined) return;
    const place = this.#placeFor(turn, event);
    const tabs = this.#tabsByOwner.get(turn.ownerId);
    if (!tabs) return;
    const heard = { event, place, notice: turnNotice(turn, place, event) };
    for (const tab of tabs) tab.hear(turn, heard);
  }

  #placeFor(turn: Turn, event: TurnEvent): AnswerPlace {
    const known = this.#places.get(turn.id);
    if (known && event.type !== 'begun') {
      if (event.type === 'ended' || event.type === 'failed') this.#places.delete(turn.id);
      return known;
    }
    const place = placeOf(turn, event.type === 'begun' ? event : turn);
    this.#places.set(turn.id, place);
    return place;
  }

  #tellConversation(news: ConversationNews): void {
    const tabs = this.#tabsByOwner.get(news.ownerId);
    if (!tabs) return;
    const notices = conversationNotices(news);
    for (const tab of tabs) for (const notice of notices) tab.tell(notice);
  }

  /** Nobody knows whose events they were. */
  #tellMissed(): void {
    const notice = Notice.of('gap', { from: 0, to: 0 }, { id: undefined, seq: 0 });
    for (const tabs of this.#tabsByOwner.values()) for (const tab of tabs) tab.tell(notice);
  }

  #tellProgress(progress: AgentProgress): void {
    const tabs = this.#tabsByAgent.get(progress.agentId);
    if (!tabs) return;
    const notice = progressNotice(progress);
    for (const tab of tabs) {
      if ((progress.ownerId ?? tab.ownerId) === tab.ownerId) tab.tell(notice);
    }
  }
}

function addTo(sets: Map<string, Set<Tab>>, key: string, tab: Tab): void {
  const set = sets.get(key);
  if (set) set.add(tab);
  else sets.set(key, new Set([tab]));
}

function removeFrom(sets: Map<string, Set<Tab>>, key: string, tab: Tab): void {
  const set = sets.get(key);
  set?.delete(tab);
  if (set?.size === 0) sets.delete(key);
}

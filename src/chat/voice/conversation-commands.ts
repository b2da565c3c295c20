import type { Caller } from '../caller.ts';
import { ownerOf, type Conversation, type Conversations } from '../conversations/conversation.ts';
import type { Search } from '../search/search.ts';
import { clarify, type Deed, type VoiceAction } from './action.ts';
import { quote, sayAnswer, sayCount, sayList, soundOf } from './speech.ts';
import type { VoiceSession } from './voice-sessions.ts';

export interface ConversationCommandParts {
  readonly conversations: Pick<
    Conversations,
    'create' | 'find' | 'list' | 'change' | 'remove' | 'messages'
  >;
  readonly search: Pick<Search, 'findConversations'>;
}

type ActionOf<Name extends VoiceAction['action']> = Extract<VoiceAction, { action: Name }>;

const pageSize = 100;
/** Among so many, the ones that were used last, a name is looked for. */
const namedAmong = 2_000;
const hitsMax = 5;
const titleChars = 200;
const messagesRead = 100;

/** Commands about the conversations of whoever speaks. */
export class ConversationCommands {
  readonly #parts: ConversationCommandParts;

  constructor(parts: ConversationCommandParts) {
    this.#parts = parts;
  }

  async create(
    caller: Caller,
    session: VoiceSession,
    { title }: ActionOf<'new_conversation'>,
  ): Promise<Deed> {
    const change = title === undefined ? {} : { title: title.slice(0, titleChars) };
    const made = await this.#parts.conversations.create(ownerOf(caller), change);
    session.conversationId = made.id;
    const named = title === undefined ? '' : ` called ${quote(made.title)}`;
    return { action: 'new_conversation', speech: `I began a new conversation${named}.` };
  }

  async open(
    caller: Caller,
    session: VoiceSession,
    { name }: ActionOf<'open_conversation'>,
  ): Promise<Deed> {
    const found = await this.#named(caller, name);
    if ('speech' in found) return found;
    session.conversationId = found.id;
    const count = sayCount(found.messageCount, 'message');
    const speech = `You are in ${quote(found.title)}, which has ${count}.`;
    return { action: 'open_conversation', speech };
  }

  async rename(
    caller: Caller,
    session: VoiceSession,
    { name, title }: ActionOf<'rename_conversation'>,
  ): Promise<Deed> {
    const found = await this.#meant(caller, session, name);
    if ('speech' in found) return found;
    const change = { title: title.slice(0, titleChars) };
    const changed = await this.#parts.conversations.change(ownerOf(caller), found.id, change);
    const speech = `I renamed ${quote(found.title)} to ${quote(changed.title)}.`;
    return { action: 'rename_conversation', speech };
  }

  /** Deletes nothing yet. */
  async askToDelete(
    caller: Caller,
    session: VoiceSession,
    { name }: ActionOf<'delete_conversation'>,
  ): Promise<Deed> {
    const found = await this.#meant(caller, session, name);
    if ('speech' in found) return found;
    const { id, title, messageCount } = found;
    session.ask({ kind: 'deletion', conversationId: id, title });
    const what = `${quote(title)} with ${sayCount(messageCount, 'message')}`;
    const speech = `Shall I delete ${what}? Say yes or no.`;
    return { action: 'confirm_delete_conversation', speech };
  }

  async delete(
    caller: Caller,
    session: VoiceSession,
    { conversationId, title }: { readonly conversationId: string; readonly title: string },
  ): Promise<Deed> {
    await this.#parts.conversations.remove(ownerOf(caller), conversationId);
    if (session.conversationId === conversationId) session.conversationId = undefined;
    return { action: 'delete_conversation', speech: `I deleted ${quote(title)}.` };
  }

  async list(caller: Caller): Promise<Deed> {
    const page = { limit: hitsMax, offset: 0 };
    const { conversations, total } = await this.#parts.conversations.list(ownerOf(caller), page);
    const titles = conversations.map(({ title }) => quote(title));
    const named = total === 0 ? '' : `: ${sayList(titles, total)}`;
    const speech = `You have ${sayCount(total, 'conversation')}${named}.`;
    return { action: 'list_conversations', speech };
  }

  /** Undefined where it was perhaps no search, and nothing is found. */
  async search(
    caller: Caller,
    { query, isGuess }: ActionOf<'search_conversations'>,
  ): Promise<Deed | undefined> {
    const request = { query, limit: 50 };
    const hits = await this.#parts.search.findConversations(ownerOf(caller), request);
    if (isGuess && hits.length === 0) return undefined;
    const titles = hits.map(({ title }) => quote(title));
    const found = `${sayCount(hits.length, 'conversation')} about ${quote(query)}`;
    const named = hits.length === 0 ? '' : `: ${sayList(titles)}`;
    return { action: 'search_conversations', speech: `I found ${found}${named}.` };
  }

  /** The last answer of a model in the session's conversation, else in the one that was used last. */
  async read(caller: Caller, session: VoiceSession): Promise<Deed> {
    const found = await this.#current(caller, session);
    if (!found) return { action: 'read_answer', speech: 'You have no conversation yet.' };
    const after = Math.max(0, found.messageCount - messagesRead);
    const window = { after, limit: messagesRead };
    const messages = await this.#parts.conversations.messages(ownerOf(caller), found.id, window);
    const answer = messages.findLast(
      ({ role, content }) => role === 'assistant' && content.trim() !== '',
    );
    const speech = answer
      ? sayAnswer(answer.content)
      : `There is no answer in ${quote(found.title)}.`;
    return { action: 'read_answer', speech };
  }

  /** The session's conversation, else the one that was used last. */
  async #current(caller: Caller, session: VoiceSession): Promise<Conversation | undefined> {
    const owner = ownerOf(caller);
    const { conversationId } = session;
    if (conversationId !== undefined) return this.#parts.conversations.find(owner, conversationId);
    const page = { limit: 1, offset: 0 };
    const { conversations } = await this.#parts.conversations.list(owner, page);
    return conversations[0];
  }

  async #meant(
    caller: Caller,
    session: VoiceSession,
    name: string | undefined,
  ): Promise<Conversation | Deed> {
    if (name !== undefined) return this.#named(caller, name);
    const { conversationId } = session;
    if (conversationId === undefined) return clarify('Which conversation? Say its title.');
    return this.#parts.conversations.find(ownerOf(caller), conversationId);
  }

  /** The one of this title, else the only one whose title is like it; else it asks back. */
  async #named(caller: Caller, name: string): Promise<Conversation | Deed> {
    const wanted = soundOf(name);
    const all = wanted === '' ? [] : await this.#recent(caller);
    const exact = all.filter(({ title }) => soundOf(title) === wanted);
    const found =
      exact.length > 0 ? exact : all.filter(({ title }) => soundOf(title).includes(wanted));
    const [first] = found;
    if (!first)
      return { action: 'not_found', speech: `I find no conversation called ${quote(name)}.` };
    if (found.length === 1) return first;
    const titles = found.map(({ title }) => quote(title));
    return clarify(`There are ${found.length} such conversations: ${sayList(titles)}. Which one?`);
  }

  async #recent(caller: Caller): Promise<readonly Conversation[]> {
    const all: Conversation[] = [];
    for (let offset = 0; offset < namedAmong; offset += pageSize) {
      const page = { limit: pageSize, offset };
      const { conversations, total } = await this.#parts.conversations.list(ownerOf(caller), page);
      all.push(...conversations);
      if (conversations.length === 0 || all.length >= total) break;
    }
    return all;
  }
}

import { Fault } from '../../kit/errors.ts';
import type { Turn, TurnEvent, Turns } from '../turns/turn.ts';
import { eventsLost } from '../turns/turn-faults.ts';
import { invalid } from './arguments.ts';
import type { OperationContext } from './context.ts';
import { Feed } from './feed.ts';

/** A `StreamToken` of the schema. */
export interface StreamToken {
  readonly id: string;
  readonly token: string;
  readonly finished: boolean;
  readonly model: string;
  readonly cursor: string;
  readonly finishReason?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly toolCall?: {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
    readonly needsApproval: boolean;
  };
}

/** Where a reader of a turn has got to. */
interface Place {
  readonly turn: Turn;
  readonly seq: number;
}

/** In UTF-16 units, with something for each token. */
const queuedMax = 1024 * 1024;
const tokenSize = 200;
const cursorPattern = /^(trn_[0-9a-f]{1,64}):(\d{1,15})$/;

/**
 * The answers of a conversation as they are written. One that is written now comes from its beginning,
 * or from behind a cursor; those that follow come whole. Rejects with `not_found` for what is another's.
 */
export async function openMessageStream(
  context: OperationContext,
  { conversationId, after }: { readonly conversationId: string; readonly after?: string | null },
): Promise<Feed<StreamToken>> {
  const { parts, ownerId, asker } = context;
  await parts.conversations.find(ownerId, conversationId);
  const stream = new ConversationStream(parts.turns, {
    ownerId,
    conversationId,
    signal: asker.signal,
  });
  try {
    const place = after == null ? undefined : await placeOf(context, conversationId, after);
    stream.begin([place, await runningPlace(context, conversationId)]);
  } catch (error) {
    stream.feed.close();
    throw error;
  }
  return stream.feed;
}

interface Watched {
  readonly ownerId: string;
  readonly conversationId: string;
  readonly signal: AbortSignal;
}

/** Brings together the turns that are caught up with and those that are heard of as they happen. */
class ConversationStream {
  readonly feed: Feed<StreamToken>;
  readonly #turns: Turns;
  readonly #ended = new AbortController();
  /** Turns that are read in order, of which live events would be a repetition. */
  readonly #followed = new Set<string>();
  readonly #heard = new Map<string, TurnReader>();
  /** What happens before it is known which turns are followed. */
  #early: (() => void)[] | undefined = [];

  constructor(turns: Turns, { ownerId, conversationId, signal }: Watched) {
    this.#turns = turns;
    const listener = (turn: Turn, event: TurnEvent) => {
      if (turn.conversationId !== conversationId || turn.ownerId !== ownerId) return;
      if (this.#early) this.#early.push(() => this.#hear(turn, event));
      else this.#hear(turn, event);
    };
    const stopListening = turns.listen(listener, () => this.feed.fail(eventsLost()));
    this.feed = new Feed({
      queuedMax,
      join: joinTokens,
      signal,
      onClose: () => {
        stopListening();
        this.#ended.abort();
      },
    });
  }

  /** Catches up with turns, each from its place on, and then tells what was heard meanwhile. */
  begin(places: readonly (Place | undefined)[]): void {
    for (const place of places) {
      if (!place || this.#followed.has(place.turn.id)) continue;
      this.#followed.add(place.turn.id);
      void this.#follow(place);
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const tell of early) tell();
  }

  async #follow({ turn, seq }: Place): Promise<void> {
    const reader = new TurnReader(turn);
    try {
      for await (const event of this.#turns.follow(turn, seq, this.#ended.signal)) {
        this.#tell(reader.read(event));
        await this.feed.room();
      }
    } catch (error) {
      this.feed.fail(error);
    }
  }

  #hear(turn: Turn, event: TurnEvent): void {
    if (this.#followed.has(turn.id)) return;
    let reader = this.#heard.get(turn.id);
    if (!reader) {
      reader = new TurnReader(turn);
      this.#heard.set(turn.id, reader);
    }
    this.#tell(reader.read(event));
    if (event.type === 'ended' || event.type === 'failed') this.#heard.delete(turn.id);
  }

  #tell(token: StreamToken | undefined): void {
    if (token) this.feed.push(token, token.token.length + tokenSize);
  }
}

/** Reads a turn's events in their order: an answer between calls of tools has a message of its own. */
class TurnReader {
  readonly #turnId: string;
  #messageId: string;
  #model: string;

  constructor({ id, messageId, model }: Turn) {
    this.#turnId = id;
    this.#messageId = messageId;
    this.#model = model;
  }

  /** What the event is told as, if at all. */
  read(event: TurnEvent): StreamToken | undefined {
    switch (event.type) {
      case 'begun':
        this.#messageId = event.messageId;
        this.#model = event.model;
        return undefined;
      case 'delta':
        return { ...this.#place(event), token: event.content };
      case 'tool-call':
        return {
          ...this.#place(event),
          toolCall: { ...event.call, needsApproval: event.needsApproval },
        };
      case 'ended':
        this.#messageId = event.messageId;
        this.#model = event.model;
        return { ...this.#place(event), finished: true, finishReason: event.finishReason };
      case 'failed': {
        const { code, message } = event;
        return { ...this.#place(event), finished: true, error: { code, message } };
      }
      default:
        return undefined;
    }
  }

  #place({ seq }: TurnEvent): StreamToken {
    return {
      id: this.#messageId,
      token: '',
      finished: false,
      model: this.#model,
      cursor: `${this.#turnId}:${seq}`,
    };
  }
}

/** Two pieces of one message are one, behind the second's cursor. */
function joinTokens(last: StreamToken, next: StreamToken): StreamToken | undefined {
  const isPlain = !last.toolCall && !next.toolCall && !last.finished && !next.finished;
  if (!isPlain || last.id !== next.id) return undefined;
  return { ...next, token: last.token + next.token };
}

async function placeOf(
  { parts, ownerId }: OperationContext,
  conversationId: string,
  cursor: string,
): Promise<Place> {
  const [, turnId, seq] = cursorPattern.exec(cursor) ?? [];
  if (turnId === undefined) throw invalid('after', 'is no cursor of this stream');
  const turn = await parts.turns.find(ownerId, turnId);
  if (turn.conversationId !== conversationId)
    throw invalid('after', 'is a cursor of another conversation');
  return { turn, seq: Number(seq) };
}

/** The turn that runs or waits in a conversation, from its beginning. */
async function runningPlace(
  { parts, ownerId }: OperationContext,
  conversationId: string,
): Promise<Place | undefined> {
  // Read again: now that events are heard, nothing falls in between.
  const { messageCount } = await parts.conversations.find(ownerId, conversationId);
  const after = Math.max(0, messageCount - 1);
  const newest = await parts.conversations.messages(ownerId, conversationId, { after, limit: 4 });
  const turnId = newest.at(-1)?.turnId;
  if (turnId === undefined) return undefined;
  const turn = await findTurn(parts.turns, ownerId, turnId);
  const isOpen = turn?.status === 'running' || turn?.status === 'waiting';
  return turn && isOpen ? { turn, seq: 0 } : undefined;
}

/** Turns are forgotten an hour after their end. */
async function findTurn(turns: Turns, ownerId: string, id: string): Promise<Turn | undefined> {
  try {
    return await turns.find(ownerId, id);
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  }
}

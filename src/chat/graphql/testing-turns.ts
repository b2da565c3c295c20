import { newId } from '../../kit/ids.ts';
import type { Conversations } from '../conversations/conversation.ts';
import { turnNotFound } from '../turns/turn-faults.ts';
import type { Turn, TurnEvent, TurnListener, TurnRequest, Turns } from '../turns/turn.ts';

type Untold<Event> = Event extends unknown ? Omit<Event, 'seq'> : never;

/** Turns whose events a test tells; they are stored as real ones are. */
export class ScriptedTurns implements Turns {
  readonly listeners = new Set<TurnListener>();
  readonly requests: TurnRequest[] = [];
  readonly #conversations: Conversations;
  readonly #turns = new Map<string, { turn: Turn; events: TurnEvent[] }>();

  constructor(conversations: Conversations) {
    this.#conversations = conversations;
  }

  /** Told whenever a turn begins, to script what comes of it. */
  onBegin: (turn: Turn) => void = () => {};

  async begin(request: TurnRequest): Promise<Turn> {
    const { caller, conversationId = '', messages, model = 'some-model' } = request;
    this.requests.push(request);
    const ownerId = caller.identity.subject;
    const id = newId('trn');
    const [, answer] = await this.#conversations.append(ownerId, conversationId, [
      { role: 'user', content: String(messages.at(-1)?.content) },
      { role: 'assistant', content: '', status: 'pending', turnId: id },
    ]);
    const turn: Turn = {
      id,
      ownerId,
      status: 'running',
      conversationId,
      messageId: answer?.id ?? '',
      model,
      createdAtMs: Date.now(),
    };
    this.#turns.set(id, { turn, events: [] });
    this.tell(id, { type: 'begun', messageId: turn.messageId, model });
    this.onBegin(turn);
    return turn;
  }

  /** The next event of a turn. */
  tell(turnId: string, event: Untold<TurnEvent>): void {
    const { turn, events } = this.#of(turnId);
    const told = { ...event, seq: events.length + 1 } as TurnEvent;
    events.push(told);
    for (const listener of this.listeners) listener(turn, told);
  }

  say(turnId: string, ...pieces: readonly string[]): void {
    for (const content of pieces) this.tell(turnId, { type: 'delta', content });
  }

  /** Ends a turn with all that was said in it. */
  async finish(turnId: string): Promise<void> {
    const entry = this.#of(turnId);
    const { messageId, model } = entry.turn;
    const content = entry.events
      .map((event) => (event.type === 'delta' ? event.content : ''))
      .join('');
    const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
    await this.#conversations.complete(messageId, { content, status: 'complete', model, usage });
    entry.turn = { ...entry.turn, status: 'completed' };
    this.tell(turnId, {
      type: 'ended',
      status: 'completed',
      finishReason: 'stop',
      messageId,
      model,
    });
  }

  async find(ownerId: string, turnId: string): Promise<Turn> {
    const { turn } = this.#of(turnId);
    if (turn.ownerId !== ownerId) throw turnNotFound();
    return turn;
  }

  async *follow(
    { id }: Pick<Turn, 'id'>,
    after: number,
    signal: AbortSignal,
  ): AsyncIterable<TurnEvent> {
    const { events } = this.#of(id);
    for (let at = after; !signal.aborted;) {
      const event = events[at];
      if (!event) {
        await new Promise<void>((resolve) => {
          const stop = () => {
            this.listeners.delete(stop);
            resolve();
          };
          this.listeners.add(stop);
          signal.addEventListener('abort', stop, { once: true });
        });
        continue;
      }
      at += 1;
      yield event;
      if (event.type === 'ended' || event.type === 'failed') return;
    }
  }

  async stop(ownerId: string, which: { turnId: string } | { conversationId: string }) {
    for (const { turn } of this.#turns.values()) {
      const isMeant =
        'turnId' in which ? turn.id === which.turnId : turn.conversationId === which.conversationId;
      if (!isMeant || turn.ownerId !== ownerId || turn.status !== 'running') continue;
      await this.finish(turn.id);
      return true;
    }
    return false;
  }

  approve(): Promise<Turn> {
    return Promise.reject(new Error('no test approves'));
  }

  listen(listener: TurnListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  #of(turnId: string) {
    const entry = this.#turns.get(turnId);
    if (!entry) throw turnNotFound();
    return entry;
  }
}

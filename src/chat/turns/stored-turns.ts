import { Fault } from '../../kit/errors.ts';
import type { Caller } from '../caller.ts';
import { ownerOf, type NewMessage, type ToolRules } from '../conversations/conversation.ts';
import type { ChatTools } from '../tools/tool.ts';
import { decideCalls, type CallAnswer } from './call-answers.ts';
import { placeForResults } from './callers-results.ts';
import { toModelMessages, toPast, type ModelMessage } from './history.ts';
import { checkForConversation, checkMessages, checkOptions } from './request-messages.ts';
import { newTurn } from './new-turn.ts';
import { RunningTurns, type RunningTurnsOptions } from './running-turns.ts';
import type { Toolbox } from './tool-calls.ts';
import type { Turn, TurnEvent, TurnListener, TurnRequest, Turns } from './turn.ts';
import { conversationNotFound, turnInProgress, turnNotFound, turnsClosed } from './turn-faults.ts';
import { readFeed } from './turn-feed.ts';
import type { HeldFeed } from './turn-feeds.ts';
import type { StoredRequest, StoredTurn, TurnGround } from './turn-row.ts';
import {
  insertLoneTurn,
  insertTurn,
  readGround,
  type Beginning,
  type NewTurn,
} from './beginnings-store.ts';
import { TurnStops } from './turn-stops.ts';
import { changeWaiting, isId, readTurn, type TurnSql } from './turns-store.ts';

export interface StoredTurnsOptions extends RunningTurnsOptions {
  readonly tools: ChatTools;
}

/** What the gateway takes for "whichever you choose". */
const gatewaysChoice = 'auto-route';
const attemptsMax = 3;
/** Attempts with one key. */
const repeatsMax = 20;

/** Turns in SQL: any replica can read, stop and go on with what any other has begun. */
export class StoredTurns implements Turns, AsyncDisposable {
  readonly #options: StoredTurnsOptions;
  readonly #sql: TurnSql;
  readonly #running: RunningTurns;
  readonly #stops: TurnStops;

  constructor(options: StoredTurnsOptions) {
    const { sql, conversations } = options;
    this.#options = options;
    this.#sql = sql;
    this.#running = new RunningTurns(options);
    this.#stops = new TurnStops({ sql, conversations, running: this.#running });
  }

  /** Ends what dead processes left behind; from now on this replica hears of the others. */
  start(): Promise<void> {
    return this.#running.start();
  }

  async begin(request: TurnRequest): Promise<Turn> {
    if (this.#running.isClosed) throw turnsClosed();
    checkOptions(request.options ?? {});
    return request.key === undefined
      ? this.#beginAs(newTurn(request), request)
      : this.#beginOnce(request);
  }

  async find(ownerId: string, turnId: string): Promise<Turn> {
    const turn = this.#running.get(turnId)?.record.turn;
    if (turn) return turn.ownerId === ownerId ? turn : Promise.reject(turnNotFound());
    return (await this.#read(ownerId, turnId)).turn;
  }

  async *follow(
    turn: Pick<Turn, 'id'>,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<TurnEvent> {
    using held = await this.hold(turn);
    yield* readFeed(held.feed, after, signal);
  }

  /** The same for readers that count microseconds: what has happened, and a place to listen. */
  hold({ id }: Pick<Turn, 'id'>): Promise<HeldFeed> {
    return this.#running.feeds.hold(id);
  }

  stop(...[ownerId, which]: Parameters<Turns['stop']>): Promise<boolean> {
    return this.#stops.stop(ownerId, which);
  }

  async approve(caller: Caller, turnId: string, answers: readonly CallAnswer[]): Promise<Turn> {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const stored = await this.#read(ownerOf(caller), turnId);
      const turn = await this.#answer(caller, stored, answers);
      if (turn) return turn;
    }
    throw new Fault('conflict', 'the turn changes too fast; try again', { reason: 'turn_changed' });
  }

  listen(listener: TurnListener, onMissed?: () => void): () => void {
    return this.#running.listen(listener, onMissed);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#running[Symbol.asyncDispose]();
  }

  /** What failed may be asked again with its key: an attempt is begun once. */
  async #beginOnce(request: TurnRequest): Promise<Turn> {
    for (let attempt = 0; ; attempt += 1) {
      const turn = newTurn(request, attempt);
      const known = await this.#known(turn);
      if (known && (!isLost(known) || attempt >= repeatsMax)) return repeated(known);
      if (known) continue;
      try {
        return await this.#beginAs(turn, request);
      } catch (error) {
        // The same request may have come twice at once.
        const other = await this.#known(turn);
        if (other) return repeated(other);
        throw error;
      }
    }
  }

  #beginAs(turn: NewTurn['turn'], request: TurnRequest): Promise<Turn> {
    return turn.conversationId === undefined
      ? this.#beginAlone(turn, request)
      : this.#beginIn(turn, request);
  }

  async #known({ id, ownerId }: NewTurn['turn']): Promise<Turn | undefined> {
    return this.#running.get(id)?.record.turn ?? (await readTurn(this.#sql, id, ownerId))?.turn;
  }

  async #beginAlone(turn: NewTurn['turn'], request: TurnRequest): Promise<Turn> {
    const { caller, messages, model = gatewaysChoice, options = {}, traceparent } = request;
    checkMessages(messages);
    const { replica, feeds } = this.#running;
    const order = { turn, model, choice: gatewaysChoice, replica };
    if (!(await insertLoneTurn(this.#sql, order))) throw turnInProgress();
    const begun: Turn = { ...turn, model, status: 'running' };
    const task = { caller, model, options, traceparent, isPending: false };
    void this.#running.open(begun, feeds.begin(turn.id), task).start(messages);
    return begun;
  }

  async #beginIn(turn: NewTurn['turn'], request: TurnRequest): Promise<Turn> {
    const { messages, model, options = {} } = request;
    const { instructions, fresh } = checkForConversation(messages);
    const { replica, histories } = this.#running;
    const hasResults = fresh[0]?.role === 'tool';
    const lastPlace = hasResults ? await placeForResults(this.#sql, turn, messages) : undefined;
    const known = histories.find(turn.conversationId ?? '');
    const stored: StoredRequest = { model, options, instructions };
    const choice = gatewaysChoice;
    const order = { turn, model, choice, request: stored, replica, lastPlace, known };
    let begun: Turn | undefined;
    await this.#options.conversations.appendWithin(questionOf(turn, fresh), async (append) => {
      const beginning = await insertTurn(this.#sql, order, append);
      if (beginning === 'in progress') throw turnInProgress();
      if (beginning === 'no conversation') return undefined;
      begun = this.#startIn(beginning, order, { request, fresh });
      return beginning.added;
    });
    // Without one it has rejected.
    if (!begun) throw conversationNotFound();
    return begun;
  }

  /** Asks at once: its user waits. */
  #startIn(
    { ground, added }: Beginning,
    { turn, request: stored }: NewTurn,
    { request, fresh }: { readonly request: TurnRequest; readonly fresh: readonly NewMessage[] },
  ): Turn {
    const { caller, traceparent } = request;
    const { feeds, histories } = this.#running;
    const { options } = stored;
    const model = wantedModel(stored, ground);
    const begun: Turn = { ...turn, model, status: 'running' };
    const openBox = this.#boxOf(caller, ground, options);
    const task = { caller, model, options, traceparent, openBox, isPending: true };
    const run = this.#running.open(begun, feeds.begin(turn.id), task);
    const past = [...ground.history, ...fresh.map(toPast)];
    void run.start([...(stored.instructions as ModelMessage[]), ...toModelMessages(past)]);
    histories.keep(added, ground.history);
    return begun;
  }

  /** The tools that the conversation allows; a caller who brings their own gets those. */
  #boxOf(
    caller: Caller,
    { tools: rules }: Pick<TurnGround, 'tools'>,
    options: StoredRequest['options'],
  ): (() => Promise<Toolbox | undefined>) | undefined {
    if (!rules || options['tools'] !== undefined) return undefined;
    return () => this.#openBox(caller, rules);
  }

  async #openBox(caller: Caller, rules: ToolRules): Promise<Toolbox | undefined> {
    const { tools, log } = this.#options;
    try {
      return { tools, rules, offers: await tools.offers(caller, rules) };
    } catch (error) {
      log.warn({ err: error }, 'a model is asked without tools: the registry gives none');
      return { tools, rules, offers: [] };
    }
  }

  async #read(ownerId: string, turnId: string): Promise<StoredTurn> {
    const stored = isId(turnId) ? await readTurn(this.#sql, turnId, ownerId) : undefined;
    if (!stored) throw turnNotFound();
    return stored;
  }

  /** Undefined when somebody else was faster. */
  async #answer(
    caller: Caller,
    stored: StoredTurn,
    answers: readonly CallAnswer[],
  ): Promise<Turn | undefined> {
    const { replica } = this.#running;
    const { calls, entries, isDecided } = decideCalls(stored, answers);
    const status = isDecided ? 'running' : 'waiting';
    const isOurs = await changeWaiting(this.#sql, { stored, status, calls, entries, replica });
    if (!isOurs) return undefined;
    const turn: Turn = { ...stored.turn, status };
    this.#running.tell({ turn, entries });
    if (isDecided) await this.#resume(caller, { ...stored, turn, calls });
    return turn;
  }

  async #resume(caller: Caller, { turn, request, calls }: StoredTurn): Promise<void> {
    const { options, instructions } = request;
    const ground = await this.#groundOf(turn);
    const openBox = this.#boxOf(caller, ground, options);
    const feed = await this.#running.feeds.claim(turn.id);
    const model = wantedModel(request, ground);
    const task = { caller, model, options, openBox, isPending: false };
    const run = this.#running.open(turn, feed, task);
    const readMessages = async (): Promise<ModelMessage[]> => {
      const { history } = await this.#groundOf(turn);
      return [...(instructions as ModelMessage[]), ...toModelMessages(history)];
    };
    void run.resume(calls, readMessages);
  }

  async #groundOf({ conversationId = '' }: Turn): Promise<TurnGround> {
    const ground = await readGround(this.#sql, conversationId);
    if (!ground) throw conversationNotFound();
    return ground;
  }
}

function wantedModel({ model }: StoredRequest, ground: TurnGround): string {
  return model ?? ground.model ?? gatewaysChoice;
}

function repeated(turn: Turn): Turn {
  return { ...turn, isRepeated: true };
}

function isLost({ status }: Turn): boolean {
  return status === 'failed' || status === 'interrupted';
}

/** The question, with the place of its answer. */
function questionOf(turn: NewTurn['turn'], fresh: readonly NewMessage[]) {
  const { id: turnId, ownerId, messageId, conversationId = '' } = turn;
  const pending = { role: 'assistant', content: '', status: 'pending' } as const;
  const messages = [...fresh, { ...pending, id: messageId }].map((one) => ({ ...one, turnId }));
  return { ownerId, conversationId, messages };
}

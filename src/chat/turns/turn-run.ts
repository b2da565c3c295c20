import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { Caller } from '../caller.ts';
import { addUsage, type ToolCall } from '../conversations/conversation.ts';
import { askFitting } from './fitting-prompt.ts';
import type { Gateway } from './gateway.ts';
import { roundMessages, type ModelMessage } from './history.ts';
import { ModelAnswer } from './model-answer.ts';
import {
  behindCalls,
  makeCalls,
  needsApproval,
  refusedByUser,
  writeOffers,
  type CallResult,
  type Toolbox,
} from './tool-calls.ts';
import { failureOf, turnLost } from './turn-faults.ts';
import type { TurnRecord } from './turn-record.ts';
import type { PieceType } from './turn-log.ts';
import type { CallState } from './turn-row.ts';

/** What a run is to do, and for whom. */
export interface RunTask {
  readonly caller: Caller;
  /** What every answer of the turn is asked for: who answers may call itself by another name. */
  readonly model: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** What the model may call; absent where the caller brings tools of their own, or there are none. */
  readonly openBox?: (() => Promise<Toolbox | undefined>) | undefined;
  readonly traceparent?: string | undefined;
}

/** What a run needs of its process. */
export interface RunGround {
  readonly gateway: Gateway;
  readonly log: Log;
}

const roundsMax = 16;

class Stopped extends Error {}
class Lost extends Error {}

/** A turn on its way: asks the model, makes the calls it wants, asks again, until an answer stands. */
export class TurnRun {
  readonly record: TurnRecord;
  /** Settles, and never rejects, when it has ended or waits. */
  readonly ended: Promise<void>;
  readonly #ground: RunGround;
  readonly #task: RunTask;
  readonly #abort = new AbortController();
  #settle: () => void = () => {};
  #answer: ModelAnswer;
  /** Readers were told of the answer. */
  #isBegun = false;
  #box: Toolbox | undefined;

  constructor(record: TurnRecord, task: RunTask, ground: RunGround) {
    this.record = record;
    this.#task = task;
    this.#ground = ground;
    this.#answer = this.#newAnswer();
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Runs from the question; never rejects. */
  async start(messages: readonly ModelMessage[]): Promise<void> {
    await this.#guarded(() => this.#rounds(messages));
  }

  /**
   * Goes on with the calls that its user has answered, and then with the history that has their
   * results; never rejects.
   */
  async resume(
    calls: readonly CallState[],
    readMessages: () => Promise<readonly ModelMessage[]>,
  ): Promise<void> {
    const inPhase = (wanted: CallState['phase']) =>
      calls.filter(({ phase }) => phase === wanted).map(({ call }) => call);
    await this.#guarded(async () => {
      const refused = inPhase('refused').map((call) => refusal(call));
      for (const result of refused) this.record.tellResult(result);
      const made = await this.#make(inPhase('begun'), refused);
      await this.record.appendWithAnswer([...refused, ...made]);
      await this.#rounds(await readMessages(), behindCalls(this.#task.options));
    });
  }

  /** Ends it as its user wants; resolves when it has ended. */
  stop(): Promise<void> {
    this.#abort.abort(new Stopped());
    return this.ended;
  }

  /** Ends it because its process stops. */
  interrupt(): Promise<void> {
    this.#abort.abort(turnLost());
    return this.ended;
  }

  /** Ends it without a word: others have taken it over. */
  abandon(): void {
    this.#abort.abort(new Lost());
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      const { openBox } = this.#task;
      if (openBox) this.#box = await openBox();
      await work();
    } catch (error) {
      await this.#giveUp(this.#abort.signal.aborted ? this.#abort.signal.reason : error);
    } finally {
      this.#settle();
    }
  }

  async #rounds(
    first: readonly ModelMessage[],
    firstOptions: RunTask['options'] = this.#task.options,
  ): Promise<void> {
    let messages = first;
    let options = firstOptions;
    for (let round = 0; round < roundsMax; round += 1) {
      messages = await this.#ask(messages, options);
      const { calls, content } = this.#answer;
      const box = this.#box;
      if (calls.length === 0 || !box) return this.#complete(calls);
      const results = await this.#callTools(calls, box);
      if (!results) return;
      messages = [...messages, ...roundMessages(content, results)];
      options = behindCalls(options);
    }
    throw new Fault('unavailable', 'the model called tools too often', {
      reason: 'too_many_tool_rounds',
    });
  }

  /** Resolves with what the model was told: in a conversation the oldest may be left out. */
  async #ask(
    messages: readonly ModelMessage[],
    options: RunTask['options'],
  ): Promise<readonly ModelMessage[]> {
    const { caller, model, traceparent } = this.#task;
    const box = this.#box;
    const { signal } = this.#abort;
    signal.throwIfAborted();
    this.#answer = this.#newAnswer();
    this.#isBegun = false;
    const { conversationId } = this.record.turn;
    const tools = box && box.offers.length > 0 ? { tools: writeOffers(box.offers) } : {};
    const { credential } = caller;
    const ask = (told: readonly ModelMessage[]) => {
      const body = { ...options, ...tools, model, messages: told };
      return this.#ground.gateway.ask({ credential, body, traceparent, signal }, this.#answer);
    };
    // What a caller keeps is the caller's to shorten.
    const isOurs = conversationId !== undefined;
    const asked = isOurs ? askFitting(messages, ask) : ask(messages).then(() => messages);
    const told = await asked.finally(() => this.#begin());
    signal.throwIfAborted();
    return told;
  }

  /** Tells of the answer once, as soon as it is known which model writes it, or that none does. */
  #begin(): void {
    if (this.#isBegun || this.#abort.signal.aborted) return;
    this.#isBegun = true;
    const { messageId, model } = this.record.turn;
    this.record.push({ type: 'begun', messageId, model });
  }

  #newAnswer(): ModelAnswer {
    return new ModelAnswer({
      onModel: (model) => {
        this.record.nameModel(model);
        this.#begin();
      },
      onText: (content) => this.#piece('delta', content),
      onThought: (content) => this.#piece('reasoning', content),
    });
  }

  #piece(type: PieceType, content: string): void {
    this.#begin();
    this.record.piece(type, content);
  }

  /** The answer stands: calls in it are of the caller's own tools. */
  async #complete(calls: readonly ToolCall[]): Promise<void> {
    const { record } = this;
    for (const call of calls) {
      record.push({ type: 'tool-call', call, needsApproval: false, isCallers: true });
    }
    await record.completeMessage('complete', this.#answer, calls);
    await this.#finish('completed', reasonOf(this.#answer, calls));
  }

  /** The results; undefined when the turn waits for its user now. */
  async #callTools(calls: readonly ToolCall[], box: Toolbox): Promise<CallResult[] | undefined> {
    const { record } = this;
    const asked = calls.filter((call) => needsApproval(box, call));
    const free = calls.filter((call) => !asked.includes(call));
    const states = (phase: 'begun' | 'done'): CallState[] =>
      calls.map((call) => ({ call, phase: asked.includes(call) ? 'asked' : phase }));
    await record.completeMessage('complete', this.#answer, calls);
    const { usage } = this.#answer;
    // It is told and stored: whatever ends the turn must not do either again.
    this.#answer = this.#newAnswer();
    const [first] = [...free, ...asked];
    const tell = (call: ToolCall) =>
      ({
        type: 'tool-call',
        call,
        needsApproval: asked.includes(call),
        ...(usage && call === first ? { usage } : {}),
      }) as const;
    for (const call of free) record.push(tell(call));
    if (free.length > 0) await record.save({ status: 'running', calls: states('begun') });
    const results = await this.#make(free);
    if (asked.length === 0) {
      await record.appendWithAnswer(results);
      return results;
    }
    if (results.length > 0) await record.append(results);
    await record.save({ status: 'waiting', calls: states('done') }, asked.map(tell));
    return undefined;
  }

  /** Makes calls; when it is ended meanwhile, what is known of them is stored with the others' results. */
  async #make(
    calls: readonly ToolCall[],
    others: readonly CallResult[] = [],
  ): Promise<CallResult[]> {
    const { caller } = this.#task;
    const { signal } = this.#abort;
    const onResult = (result: CallResult) => this.record.tellResult(result);
    const results = await makeCalls(calls, { caller, box: this.#box, signal, onResult });
    if (!signal.aborted) return results;
    await this.record.append([...others, ...results]);
    throw signal.reason;
  }

  async #finish(status: 'completed' | 'stopped', finishReason: string): Promise<void> {
    const { messageId, model } = this.record.turn;
    const usage = addUsage(this.record.feed.log.usageOfCalls, this.#answer.usage);
    const ended = { type: 'ended', status, finishReason, messageId, model } as const;
    await this.record.save({ status }, [{ ...ended, ...(usage ? { usage } : {}) }]);
  }

  async #giveUp(reason: unknown): Promise<void> {
    try {
      if (reason instanceof Lost) throw turnLost();
      if (!(reason instanceof Stopped)) return await this.#fail(Fault.from(reason));
      await this.record.completeMessage('stopped', this.#answer);
      await this.#finish('stopped', 'stop');
    } catch (error) {
      this.#ground.log.warn({ err: error }, 'the end of a turn could not be stored');
      this.#tellFailure(Fault.from(error));
    }
  }

  async #fail(fault: Fault): Promise<void> {
    const { log } = this.#ground;
    if (fault.code === 'internal') log.error({ err: fault.cause ?? fault }, 'a turn failed');
    const status = fault.reason === 'interrupted' ? 'interrupted' : 'failed';
    try {
      await this.record.completeMessage('interrupted', this.#answer);
    } catch (error) {
      log.warn({ err: error }, 'the end of an answer could not be stored');
      // A turn does not end before its message: it stays as one that nobody runs, which is ended later.
      if (Fault.from(error).code !== 'not_found') return this.#tellFailure(fault);
    }
    await this.record.save({ status }, [failureOf(fault)]);
  }

  /** A reader is told of the end even where it could not be stored. */
  #tellFailure(fault: Fault): void {
    if (!this.record.feed.isOver) this.record.push(failureOf(fault));
  }
}

/** Whoever reads `tool_calls` looks for calls. */
function reasonOf({ finishReason = 'stop' }: ModelAnswer, calls: readonly ToolCall[]): string {
  if (calls.length > 0) return 'tool_calls';
  return finishReason === 'tool_calls' ? 'stop' : finishReason;
}

function refusal(call: ToolCall): CallResult {
  return { call, content: refusedByUser, isError: true };
}

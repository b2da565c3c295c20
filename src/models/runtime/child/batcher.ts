import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Token } from 'node-llama-cpp';
import type { Context } from '../llama/context.ts';
import type { Sequence } from './sequence.ts';

/** A text that is read, and gone on with token by token. */
export interface Reading {
  readonly sequence: Sequence;
  /** What the sequence has to hold before the first token is sampled; not empty. */
  readonly prompt: readonly Token[];
  /** So many of its tokens the sequence holds already; what follows them there is forgotten. */
  readonly sharedTokens: number;
  /** Ends the reading between two batches, with its reason. */
  readonly signal: AbortSignal;
  /** The next token, by the result at a place of the batch that was just evaluated. */
  readonly sample: (place: number) => Token;
  /** Takes a token, and says whether the text goes on with it. */
  readonly take: (token: Token) => boolean;
}

interface Member {
  readonly reading: Reading;
  /** What follows what the sequence holds. */
  unread: readonly Token[];
  isNew: boolean;
  /** Whether all of its prompt has been read. */
  isWritten: boolean;
  readonly leave: (error?: unknown) => void;
}

/** What of a member is in a batch. */
interface Part {
  readonly member: Member;
  readonly tokens: readonly Token[];
  /** Of its last token. */
  readonly place: number;
}

/**
 * Evaluates the texts of a model together, batch by batch. Those that are still read share a batch, and those
 * that are written get a token each in the one after: in one batch llama.cpp would evaluate a first token of all,
 * and then the others, which takes longer (`split_equal` takes as many tokens of each sequence).
 */
export class Batcher {
  readonly #context: Context;
  #hasJustRead = false;
  /** By their sequences: llama.cpp takes those of successive numbers together (`split_equal`). */
  #members: readonly Member[] = [];
  #isRunning = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Resolves when the text does not go on; rejects with the signal's reason, and when a batch fails. */
  read(reading: Reading): Promise<void> {
    return new Promise((resolve, reject) => {
      const { prompt, sharedTokens } = reading;
      const leave = (error?: unknown) => {
        this.#members = this.#members.filter((one) => one !== member);
        if (error === undefined) resolve();
        else reject(error);
      };
      const unread = prompt.slice(sharedTokens);
      const member: Member = { reading, unread, isNew: true, isWritten: false, leave };
      this.#members = [...this.#members, member].toSorted(bySequence);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    do {
      // Messages come in between: what is asked for now is in the next batch, and who gave up is not.
      await nextTurn();
      for (const { reading, leave } of this.#members)
        if (reading.signal.aborted) leave(reading.signal.reason);
      await this.#step();
    } while (this.#members.length > 0);
    this.#isRunning = false;
  }

  async #step(): Promise<void> {
    if (this.#members.length === 0) return;
    const parts = this.#fill();
    try {
      // Most are evaluated at once, and a promise would only cost time.
      const evaluating = this.#context.decode();
      if (evaluating) await evaluating;
    } catch (error) {
      for (const { member } of parts) {
        member.reading.sequence.tokens.length = 0;
        member.leave(error);
      }
      return;
    }
    for (const { member, tokens } of parts) {
      member.reading.sequence.tokens.push(...tokens);
      member.unread = member.unread.slice(tokens.length);
    }
    for (const { member, place } of parts) if (member.unread.length === 0) goOn(member, place);
  }

  #fill(): readonly Part[] {
    const { batch } = this.#context;
    batch.clear();
    const members = this.#nextMembers();
    const counts = shareRoom(members, batch.capacity);
    return members.map((member) => {
      const { sequence } = member.reading;
      if (member.isNew) this.#rewind(member);
      const tokens = member.unread.slice(0, counts.get(member));
      let place = 0;
      for (const [i, token] of tokens.entries()) {
        const position = sequence.tokens.length + i;
        const isWanted = i === member.unread.length - 1;
        place = batch.add({ token, position, sequence: sequence.number, isWanted });
      }
      return { member, tokens, place };
    });
  }

  #nextMembers(): readonly Member[] {
    const written = this.#members.filter(({ isWritten }) => isWritten);
    const read = this.#members.filter(({ isWritten }) => !isWritten);
    const isWriting = read.length === 0 || (this.#hasJustRead && written.length > 0);
    this.#hasJustRead = !isWriting;
    return isWriting ? written : read;
  }

  #rewind(member: Member): void {
    const { sequence, sharedTokens } = member.reading;
    member.isNew = false;
    if (sequence.tokens.length === sharedTokens && sharedTokens > 0) return;
    this.#context.forget(sequence.number, sharedTokens);
    sequence.tokens.length = sharedTokens;
  }
}

function bySequence(one: Member, other: Member): number {
  return one.reading.sequence.number - other.reading.sequence.number;
}

/** Who wants little gets all of it, and the others share alike what it leaves. */
function shareRoom(members: readonly Member[], capacity: number): ReadonlyMap<Member, number> {
  const counts = new Map<Member, number>();
  let room = capacity;
  const modestFirst = members.toSorted((one, other) => one.unread.length - other.unread.length);
  for (const [i, member] of modestFirst.entries()) {
    const count = Math.min(member.unread.length, Math.floor(room / (members.length - i)));
    counts.set(member, count);
    room -= count;
  }
  return counts;
}

function goOn(member: Member, place: number): void {
  const { sample, take } = member.reading;
  member.isWritten = true;
  try {
    const token = sample(place);
    if (take(token)) member.unread = [token];
    else member.leave();
  } catch (error) {
    member.leave(error);
  }
}

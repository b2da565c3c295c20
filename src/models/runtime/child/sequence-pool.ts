import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';

/** A sequence that a request holds. */
export interface Place {
  readonly sequence: LlamaContextSequence;
  /** Its number among the model's sequences. */
  readonly number: number;
  /** So many of the prompt's first tokens stand in it already. */
  readonly sharedTokens: number;
  /** Whether they come of an earlier prompt, and are more than the mark that all begin with. */
  readonly isRemembered: boolean;
  /** To be awaited before the sequence is used; undefined where there is nothing to wait for. */
  readonly emptied: Promise<void> | undefined;
}

interface IdleSequence extends Pick<Place, 'sequence' | 'number' | 'emptied'> {
  /** Whose text it still holds. */
  readonly owner: string | undefined;
}

/**
 * The sequences that no request holds, with what was last read into them. Only the same subject
 * finds it again: a prompt that is answered faster would tell others that it was asked before. The
 * mark that every prompt begins with is found by everybody.
 */
export class SequencePool {
  /** The longest unused one comes first. */
  readonly #idle: IdleSequence[];
  readonly #held = new Set<number>();
  readonly #beginMark: Token | undefined;

  constructor(sequences: readonly LlamaContextSequence[], beginMark?: Token) {
    this.#beginMark = beginMark;
    this.#idle = sequences.map((sequence, number) => ({
      sequence,
      number,
      owner: undefined,
      emptied: undefined,
    }));
  }

  /** How many tokens every prompt begins with. */
  get markTokens(): number {
    return this.#beginMark === undefined ? 0 : 1;
  }

  /**
   * The one that shares the longest beginning with the prompt; without an owner none does. Where none
   * does, one beside those that are held: llama.cpp evaluates sequences of successive numbers together.
   */
  take(tokens: Token[], owner: string | undefined): Place {
    const markTokens = tokens[0] !== undefined && tokens[0] === this.#beginMark ? 1 : 0;
    const shares = this.#idle.map((idle) =>
      owner !== undefined && idle.owner === owner ? countShared(idle.sequence, tokens) : 0,
    );
    const longest = Math.max(0, ...shares);
    const isRemembered = longest > markTokens;
    const at = isRemembered ? shares.indexOf(longest) : this.#findBesideHeld();
    const [taken] = this.#idle.splice(at, 1);
    if (!taken) throw new Fault('internal', 'no sequence is free');
    const { sequence, number, emptied } = taken;
    this.#held.add(number);
    const sharedTokens = isRemembered
      ? longest
      : Math.min(markTokens, countShared(sequence, tokens));
    return { sequence, number, sharedTokens, isRemembered, emptied };
  }

  /** Without an owner nobody finds its text again, and it may still be on the way to be `emptied`. */
  give(
    { sequence, number }: Pick<Place, 'sequence' | 'number'>,
    owner: string | undefined,
    emptied?: Promise<void>,
  ): void {
    this.#held.delete(number);
    this.#idle.push({ sequence, number, owner, emptied });
  }

  #findBesideHeld(): number {
    const neighbours = this.#idle.map(
      ({ number }) => Number(this.#held.has(number - 1)) + Number(this.#held.has(number + 1)),
    );
    return neighbours.indexOf(Math.max(0, ...neighbours));
  }
}

/** The last token is always read anew: its result is what the first token is sampled from. */
function countShared(sequence: LlamaContextSequence, tokens: Token[]): number {
  // Such models cannot go back to a token in the middle.
  if (sequence.needsCheckpoints || sequence.nextTokenIndex === 0) return 0;
  const { firstDifferentIndex } = sequence.compareContextTokens(tokens);
  return Math.min(firstDifferentIndex, tokens.length - 1);
}

import type { Token } from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';
import type { Sequence } from './sequence.ts';

/** A sequence that a request holds. */
export interface Place {
  readonly sequence: Sequence;
  /** So many of the prompt's first tokens stand in it already. */
  readonly sharedTokens: number;
  /** Whether they come of an earlier prompt, and are more than the mark that all begin with. */
  readonly isRemembered: boolean;
}

interface IdleSequence extends Pick<Place, 'sequence'> {
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

  constructor(sequences: readonly Sequence[], beginMark?: Token) {
    this.#beginMark = beginMark;
    this.#idle = sequences.map((sequence) => ({ sequence, owner: undefined }));
  }

  /**
   * The one that shares the longest beginning with the prompt; without an owner none does. Where none
   * does, one beside those that are held: llama.cpp evaluates sequences of successive numbers together.
   */
  take(tokens: readonly Token[], owner: string | undefined): Place {
    const markTokens = tokens[0] !== undefined && tokens[0] === this.#beginMark ? 1 : 0;
    const shares = this.#idle.map((idle) =>
      owner !== undefined && idle.owner === owner ? idle.sequence.countShared(tokens) : 0,
    );
    const longest = Math.max(0, ...shares);
    const isRemembered = longest > markTokens;
    const at = isRemembered ? shares.indexOf(longest) : this.#findBesideHeld();
    const [taken] = this.#idle.splice(at, 1);
    if (!taken) throw new Fault('internal', 'no sequence is free');
    const { sequence } = taken;
    this.#held.add(sequence.number);
    const sharedTokens = isRemembered
      ? longest
      : Math.min(markTokens, sequence.countShared(tokens));
    return { sequence, sharedTokens, isRemembered };
  }

  /** Without an owner nobody finds its text again. */
  give(sequence: Sequence, owner: string | undefined): void {
    this.#held.delete(sequence.number);
    this.#idle.push({ sequence, owner });
  }

  #findBesideHeld(): number {
    const neighbours = this.#idle.map(
      ({ sequence: { number } }) =>
        Number(this.#held.has(number - 1)) + Number(this.#held.has(number + 1)),
    );
    return neighbours.indexOf(Math.max(0, ...neighbours));
  }
}

import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { Fault } from '../../kit/errors.ts';

/** A sequence that a request holds. */
export interface Place {
  readonly sequence: LlamaContextSequence;
  /** So many of the prompt's first tokens stand in it already. */
  readonly sharedTokens: number;
}

interface IdleSequence {
  readonly sequence: LlamaContextSequence;
  /** Whose text it still holds. */
  readonly owner: string | undefined;
}

/**
 * The sequences that no request holds, with what was last read into them. Only the same subject
 * finds it again: a prompt that is answered faster would tell others that it was asked before.
 */
export class SequencePool {
  /** The longest unused one comes first. */
  readonly #idle: IdleSequence[];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#idle = sequences.map((sequence) => ({ sequence, owner: undefined }));
  }

  /** The one that shares the longest beginning with the prompt; without an owner none does. */
  take(tokens: Token[], owner: string | undefined): Place {
    const shares = this.#idle.map((idle) =>
      owner !== undefined && idle.owner === owner ? countShared(idle.sequence, tokens) : 0,
    );
    const sharedTokens = Math.max(0, ...shares);
    const [taken] = this.#idle.splice(Math.max(0, shares.indexOf(sharedTokens)), 1);
    if (!taken) throw new Fault('internal', 'no sequence is free');
    return { sequence: taken.sequence, sharedTokens };
  }

  give(sequence: LlamaContextSequence, owner: string | undefined): void {
    this.#idle.push({ sequence, owner });
  }
}

/** The last token is always read anew: its result is what the first token is sampled from. */
function countShared(sequence: LlamaContextSequence, tokens: Token[]): number {
  // Such models cannot go back to a token in the middle.
  if (sequence.needsCheckpoints || sequence.nextTokenIndex === 0) return 0;
  const { firstDifferentIndex } = sequence.compareContextTokens(tokens);
  return Math.min(firstDifferentIndex, tokens.length - 1);
}

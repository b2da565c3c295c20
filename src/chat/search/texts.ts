import type { SearchSql } from './embedders-store.ts';
import { readTexts, type FoundMessage } from './texts-store.ts';

/** Bytes of one statement, so that others get their turn in between. */
const portionBytes = 1024 * 1024;
/** Bytes that are read at once for one purpose of a search. */
const bytesMax = 16 * 1024 * 1024;

export interface TextsOptions {
  readonly sql: SearchSql;
  readonly ownerId: string;
  /** When it is aborted, nothing more is read. */
  readonly signal?: AbortSignal | undefined;
}

/** The texts of an owner's messages, for one search. */
export class Texts {
  readonly #options: TextsOptions;

  constructor(options: TextsOptions) {
    this.#options = options;
  }

  /**
   * Shows messages in the order of their ids, until their texts come to 16 MiB; answers the ids of
   * those that were left out for it. Rejects with the signal's reason once it is aborted.
   */
  async visit(
    messageIds: readonly string[],
    see: (message: FoundMessage) => void,
  ): Promise<readonly string[]> {
    const { sql, ownerId, signal } = this.#options;
    let left = messageIds;
    let bytesLeft = bytesMax;
    while (left.length > 0 && bytesLeft > 0) {
      signal?.throwIfAborted();
      const wanted = { messageIds: left, bytes: Math.min(portionBytes, bytesLeft) };
      const portion = await readTexts(sql, ownerId, wanted);
      for (const message of portion) {
        bytesLeft -= Buffer.byteLength(message.content);
        see(message);
      }
      const last = portion.at(-1);
      left = last ? left.slice(left.indexOf(last.id) + 1) : [];
    }
    return left;
  }
}

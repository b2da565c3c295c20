import type { Role } from '../conversations/conversation.ts';

export interface SearchRequest {
  readonly query: string;
  /** 10 when absent, 100 at most. */
  readonly limit?: number;
  /** 0…1, with the same meaning for every embedder. */
  readonly minScore?: number;
  readonly from?: Date;
  readonly to?: Date;
  /** Aborted when nobody waits any longer: the search then ends behind the statement under way. */
  readonly signal?: AbortSignal;
}

export interface SearchHit {
  readonly messageId: string;
  readonly conversationId: string;
  readonly title: string;
  readonly role: Role;
  /** The message's text, or the part of a long one around what matched. */
  readonly content: string;
  /** 0…1. */
  readonly score: number;
  readonly createdAtMs: number;
  /** With `<mark>` around what matched, all else escaped for HTML. */
  readonly snippet: string;
  /** What the score rests on: an embedder's name, or `text` while the message has no vector. */
  readonly embedder: string;
  /** What answered; absent of messages that no model wrote. */
  readonly model?: string;
}

/** A conversation with what matched in it, the best first. */
export interface ConversationHit {
  readonly conversationId: string;
  readonly title: string;
  readonly score: number;
  readonly hits: readonly SearchHit[];
}

export interface Search {
  /** In the owner's messages only. */
  find(
    ownerId: string,
    request: SearchRequest,
  ): Promise<{
    readonly hits: readonly SearchHit[];
    /** Those with the score or a better one. */
    readonly total: number;
    /** False when there may be more than `total`; absent means true. */
    readonly isTotalExact?: boolean;
    /** Measured. */
    readonly queryTimeMs: number;
  }>;
  findConversations(ownerId: string, request: SearchRequest): Promise<readonly ConversationHit[]>;
}

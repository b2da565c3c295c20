import type { Cancellation } from '../../kit/cancellation.ts';
/** A cached answer in the words of the face that asked for it. */
export interface CachedAnswer {
  /** The whole answer as JSON, as `stream: false` gets it. */
  readonly body: Buffer;
  readonly provider: string;
  readonly model: string;
  /** Tells whether the provider of that name is still the same one. */
  readonly source: string;
  /** Tokens that the answer took when it was made. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What the cache says to a request. */
export type Lookup =
  | { readonly state: 'off' }
  | {
      readonly state: 'hit';
      readonly key: string;
      readonly ageSeconds: number;
      /** Only of an answer to a question that was alike, not the same: their cosine. */
      readonly similarity?: number | undefined;
      readonly answer: CachedAnswer;
    }
  | { readonly state: 'miss'; readonly key: string; readonly fill: Fill };

/** The right to fill a place that others may be waiting for. Exactly one of both is called. */
export interface Fill {
  /** Gives the answer to all who wait, and keeps it. */
  store(answer: CachedAnswer): void;
  /** Nobody finds it out any more: of those who wait the first one asks. */
  abandon(): void;
  /** What came cannot be shared: all who wait ask for themselves, at once. */
  decline(): void;
}

/** What decides which answer a request may share. */
export interface CacheQuestion {
  /** Whose answers these are: the subject of the token. */
  readonly tenant: string;
  readonly face: string;
  /** The request as it came, parsed. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The body's own text; spares who asks for the same again most of the work. */
  readonly text?: string | undefined;
  /** Temperature 0 is cached unless told otherwise. */
  readonly temperature: number | undefined;
  /** The request's `cache` object. */
  readonly wish: CacheWish;
  readonly cancellation: Cancellation;
}

export interface CacheWish {
  readonly enabled?: boolean | undefined;
  /** Seconds. */
  readonly ttl?: number | undefined;
  /** A namespace of the caller's own. */
  readonly key?: string | undefined;
}

/** Keeps answers to identical requests. */
export interface AnswerCache {
  /**
   * At once unless somebody is already asking for the same: then it waits for that answer, within
   * the cancellation.
   */
  lookup(question: CacheQuestion): Lookup | Promise<Lookup>;
}

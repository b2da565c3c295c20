/** Texts that are found by meaning. */
export interface Collection {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The embedding model that was asked for; absent: the one that comes with the product. */
  readonly wantedModel: string | undefined;
  /** What made the vectors; absent while nothing was ever stored. */
  readonly embedding: { readonly model: string; readonly dimensions: number } | undefined;
  /** One higher with each change of its documents. */
  readonly revision: number;
  /** Deletions up to here are known no more. */
  readonly purgedRevision: number;
  readonly ownerId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A collection and how much it holds. */
export interface CountedCollection extends Collection {
  readonly documents: number;
  readonly chunks: number;
}

/** Any JSON object. */
export type Metadata = Readonly<Record<string, unknown>>;

export interface NewDocument {
  readonly id?: string;
  readonly content: string;
  readonly metadata?: Metadata;
}

export interface Document {
  readonly id: string;
  readonly content: string;
  readonly metadata: Metadata;
  readonly chunks: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A document of which a part is close to what was asked. */
export interface Hit {
  readonly id: string;
  /** The part that is closest; the whole document where it is short. */
  readonly content: string;
  /** Cosine of the angle between the two: 1 the same, 0 unrelated. */
  readonly score: number;
  readonly metadata: Metadata;
}

export interface Search {
  readonly query: string;
  readonly limit: number;
  readonly minScore?: number;
  /** Fields that the metadata must have, with these values. */
  readonly filter?: Metadata;
}

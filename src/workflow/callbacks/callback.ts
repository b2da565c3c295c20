/** What a callback tells of. */
export type CallbackEvent =
  | 'execution.completed'
  | 'execution.failed'
  | 'execution.cancelled'
  | 'batch.progress'
  | 'batch.ended';

/** Where a callback goes and what signs it. */
export interface CallbackTarget {
  readonly url: string;
  readonly secret: string;
}

/** A callback as it is to be stored. */
export interface NewCallback {
  readonly id: string;
  /** The execution's or the batch's id. */
  readonly subjectId: string;
  readonly event: CallbackEvent;
  /** A second one with the same key changes nothing. */
  readonly dedupeKey: string;
  /** Of the address, without its path, for showing. */
  readonly origin: string;
  /** Sealed. */
  readonly target: string;
  readonly addressHash: string;
  /** JSON. */
  readonly body: string;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'superseded';

/** How the sending of a callback stands. */
export interface Delivery {
  readonly id: string;
  readonly event: CallbackEvent;
  readonly origin: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: Date;
  /** Of the next attempt, while it is pending. */
  readonly dueAt: Date;
  readonly deliveredAt: Date | undefined;
  /** The HTTP status of the last answer. */
  readonly answer: number | undefined;
  readonly error: string | undefined;
}

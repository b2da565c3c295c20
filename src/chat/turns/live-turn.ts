import type { Turn } from './turn.ts';
import type { TurnFeed } from './turn-feed.ts';

/** A turn that runs in this process, and how far others know of it. */
export interface LiveTurn {
  readonly turn: Turn;
  readonly feed: TurnFeed;
  /** Up to which event it is stored. */
  savedSeq: number;
  /** Up to which event other replicas were told. */
  toldSeq: number;
}

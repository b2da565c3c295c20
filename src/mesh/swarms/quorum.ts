/** What a swarm of n members withstands. */
export interface FaultTolerance {
  /** f: how many members may lie without two conflicting decisions; 0 below four members. */
  readonly byzantine: number;
  /** q: how many equal votes decide. */
  readonly quorum: number;
}

/** f = floor((n - 1) / 3). */
export function liarsMax(members: number): number {
  return Math.floor((members - 1) / 3);
}

/**
 * q = floor((n + f) / 2) + 1: two sets of q members share more than f of them, hence an honest one.
 * It is 2f + 1 only where n = 3f + 1; with n = 5 that would be too few.
 */
export function safeQuorum(members: number): number {
  return Math.floor((members + liarsMax(members)) / 2) + 1;
}

/** The safe quorum, or the threshold where that is more: a threshold can only raise it. */
export function toleranceOf(members: number, threshold: number): FaultTolerance {
  const quorum = Math.max(threshold, safeQuorum(members));
  return { byzantine: liarsMax(members), quorum };
}

import type { Certificate } from './certificate.ts';
import { trimmedMean } from './confidence.ts';
import {
  countedVotes,
  decisionOf,
  faultToleranceOf,
  scopeOf,
  type KeptVote,
  type Swarm,
} from './swarm.ts';

/** Two different votes of one member. */
export interface Evidence {
  readonly agentId: string;
  readonly first: KeptVote;
  readonly second: KeptVote;
  /** Whether both are signed, so that anybody can see it without trusting the mesh. */
  readonly isTransferable: boolean;
}

/** What members did that honest ones do not. */
export function evidenceOf({ votes }: Swarm): readonly Evidence[] {
  return votes.flatMap((second) => {
    if (second.kind !== 'conflict') return [];
    const { agentId } = second;
    const first = votes.find((vote) => vote.agentId === agentId && vote.kind !== 'conflict');
    if (!first) return [];
    const isTransferable = first.signature !== undefined && second.signature !== undefined;
    return [{ agentId, first, second, isTransferable }];
  });
}

/** The proof of the decision; undefined without one, or when too few of its votes are signed. */
export function certificateOf(swarm: Swarm): Certificate | undefined {
  const decision = decisionOf(swarm);
  if (decision === undefined) return undefined;
  const votes = countedVotes(swarm).flatMap(({ vote, agentId, signature }) =>
    vote === decision && signature !== undefined ? [{ agentId, signature }] : [],
  );
  const { quorum } = faultToleranceOf(swarm);
  return votes.length < quorum ? undefined : { ...scopeOf(swarm), quorum, decision, votes };
}

/**
 * The mean confidence of those who decided, without the f highest and f lowest; undefined without a
 * decision.
 */
export function confidenceOf(swarm: Swarm): number | undefined {
  const decision = decisionOf(swarm);
  if (decision === undefined) return undefined;
  const deciding = countedVotes(swarm).filter(({ vote }) => vote === decision);
  const figures = deciding.map(({ confidence }) => confidence);
  return trimmedMean(figures, faultToleranceOf(swarm).byzantine);
}

import type { Activity } from '../activity/activity.ts';
import { certificateOf } from './findings.ts';
import { decisionOf, tallyOf, type Swarm } from './swarm.ts';

/** Tells of the votes that a change brought, of conflicts among them, and of the swarm's end. */
export function tellChange(activity: Activity, before: Swarm, after: Swarm): void {
  const { swarmId, status } = after;
  const known = new Set(before.votes.map(({ agentId, vote }) => `${vote} ${agentId}`));
  const fresh = after.votes.filter(({ agentId, vote }) => !known.has(`${vote} ${agentId}`));
  for (const { agentId, vote, kind, confidence, signature } of fresh) {
    const isSigned = signature !== undefined;
    if (kind === 'counted') {
      activity.tell('vote-cast', agentId, { swarmId, vote, confidence, signed: isSigned });
    } else if (kind === 'conflict') {
      const first = after.votes.find((one) => one.agentId === agentId && one.kind !== 'conflict');
      const facts = { swarmId, first: first?.vote, second: vote };
      activity.tell('vote-conflict', agentId, facts);
    }
  }
  if (before.status !== 'active' || status === 'active') return;
  const last = fresh.findLast(({ kind }) => kind === 'counted');
  activity.tell('swarm-decided', last?.agentId ?? after.members[0]?.agentId ?? '', {
    swarmId,
    status,
    finalDecision: decisionOf(after),
    certified: certificateOf(after) !== undefined,
    tally: tallyOf(after),
  });
}

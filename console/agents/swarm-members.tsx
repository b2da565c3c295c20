import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Table, type Column } from '../ui/table.tsx';
import { formatAge } from '../ui/text.ts';
import type { Swarm } from './answers.ts';
import { Vote } from './swarm-state.tsx';

/** Who may vote, and who has. */
export function SwarmMembers({ swarm }: { readonly swarm: Swarm }): ReactNode {
  return (
    <section className="stack">
      <h2>Members</h2>
      <Table columns={columnsOf(swarm)} rows={swarm.members} keyOf={({ agentId }) => agentId} />
    </section>
  );
}

type Member = Swarm['members'][number];

function columnsOf({ agentVotes }: Swarm): readonly Column<Member>[] {
  const votes = new Map(agentVotes.map((cast) => [cast.agentId, cast]));
  return [
    { title: 'Agent', cell: ({ agentId }) => <Link href={`/${agentId}`}>{agentId}</Link> },
    {
      title: 'Vote',
      cell: ({ agentId }) => {
        const cast = votes.get(agentId);
        return cast ? <Vote vote={cast.vote} /> : <span className="faint">none yet</span>;
      },
    },
    {
      title: 'Confidence',
      isFigure: true,
      cell: ({ agentId }) => votes.get(agentId)?.confidence.toFixed(2) ?? '',
    },
    {
      title: 'When',
      cell: ({ agentId }) => formatAge(votes.get(agentId)?.timestamp ?? ''),
    },
    {
      title: 'Signed',
      cell: ({ agentId, voteKey }) => {
        if (votes.get(agentId)?.signature) return 'yes';
        return <span className="faint">{voteKey ? 'no' : 'no key'}</span>;
      },
    },
    {
      title: 'Takes part',
      cell: ({ joinedAt }) => (joinedAt ? `joined ${formatAge(joinedAt)}` : ''),
    },
  ];
}

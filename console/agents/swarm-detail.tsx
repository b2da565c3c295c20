import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import { Answered } from '../ui/answered.tsx';
import { saveFile } from '../ui/download.ts';
import { Facts } from '../ui/facts.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Page } from '../ui/page.tsx';
import { formatAge, formatDuration } from '../ui/text.ts';
import type { Swarm } from './answers.ts';
import { SwarmActions, SwarmCancel } from './swarm-actions.tsx';
import { SwarmMembers } from './swarm-members.tsx';
import { SwarmState, Vote } from './swarm-state.tsx';

const refreshMs = 1_500;

/** One swarm: who voted how, what was decided, and what proves it. */
export function SwarmDetail({ swarmId }: { readonly swarmId: string }): ReactNode {
  const swarm = useAnswer('mesh', 'GET /api/v1/swarms/:swarmId/status', {
    params: { swarmId },
    everyMs: refreshMs,
  });
  const isActive = swarm.data?.status === 'active';
  return (
    <Page
      title={
        <>
          <Link href="/swarms">Swarms</Link> / {swarm.data?.name ?? swarmId}
        </>
      }
      actions={isActive ? <SwarmCancel swarmId={swarmId} /> : null}
    >
      <Answered query={swarm}>
        {(found) => (
          <>
            <div className="columns">
              <Decision swarm={found} />
              {isActive ? <SwarmActions swarm={found} /> : null}
            </div>
            <SwarmMembers swarm={found} />
            <LateVotes swarm={found} />
            <Evidence swarm={found} />
            <Proof swarm={found} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Decision({ swarm }: { readonly swarm: Swarm }): ReactNode {
  const { status, finalDecision, confidence, consensus, faultTolerance, livenessFaults } = swarm;
  const { createdAt, expiresAt, endedAt, members } = swarm;
  return (
    <section className="card stack">
      <h2>Decision</h2>
      <Tally swarm={swarm} />
      <Facts
        facts={[
          ['Status', <SwarmState key="status" status={status} />],
          ['Decision', finalDecision && <Vote key="vote" vote={finalDecision} />],
          ['Confidence', confidence !== undefined && confidence.toFixed(2)],
          ['Needed', `${faultTolerance.quorum} equal votes of ${members.length}`],
          ['Tolerates', `${faultTolerance.byzantine} that lie, ${livenessFaults} that are silent`],
          ['Created', formatAge(createdAt)],
          endedAt
            ? ['Ended', formatAge(endedAt)]
            : ['Ends', expiresAt && `at ${new Date(expiresAt).toLocaleTimeString()}`],
          ['Time to decide', formatDuration(consensus.timeout)],
        ]}
      />
    </section>
  );
}

function Tally({ swarm: { tally, members } }: { readonly swarm: Swarm }): ReactNode {
  const kinds = ['approve', 'reject', 'abstain'] as const;
  const words = kinds.map((kind) => `${tally[kind]} ${kind}`).join(', ');
  return (
    <div>
      <div className="tally" aria-hidden>
        {kinds.map((kind) => (
          <span
            key={kind}
            className={kind}
            style={{ width: `${(tally[kind] / Math.max(1, members.length)) * 100}%` }}
          />
        ))}
      </div>
      <span className="faint">{words}</span>
    </div>
  );
}

function LateVotes({ swarm: { lateVotes } }: { readonly swarm: Swarm }): ReactNode {
  if (lateVotes.length === 0) return null;
  return (
    <section className="card">
      <h2>Votes after the end</h2>
      <ul>
        {lateVotes.map(({ agentId, vote, timestamp }) => (
          <li key={agentId}>
            {agentId}: {vote}, {formatAge(timestamp)}; it does not count
          </li>
        ))}
      </ul>
    </section>
  );
}

function Evidence({ swarm: { evidence } }: { readonly swarm: Swarm }): ReactNode {
  if (evidence.length === 0) return null;
  return (
    <section className="card">
      <h2>Members who said two things</h2>
      <ul>
        {evidence.map(({ agentId, first, second, transferable }) => (
          <li key={agentId}>
            {agentId}: first {first.vote}, then {second.vote}.{' '}
            {transferable
              ? 'Both are signed: anybody can check it.'
              : 'Not both are signed: it is the mesh’s word.'}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Proof({ swarm }: { readonly swarm: Swarm }): ReactNode {
  const { swarmId, certificate, ballot, finalDecision } = swarm;
  return (
    <section className="card stack">
      <h2>What proves it</h2>
      {certificate ? (
        <>
          <p className="flat">
            Signed by {certificate.votes.length} members: whoever knows their keys can check it
            without the mesh.
          </p>
          <JsonView value={certificate} />
          <div>
            <button
              type="button"
              onClick={() => saveFile(`${swarmId}.json`, JSON.stringify(certificate, null, 2))}
            >
              Download the certificate
            </button>
          </div>
        </>
      ) : (
        <p className="faint flat">
          {finalDecision
            ? 'Too few of its votes are signed: the decision is the mesh’s word.'
            : 'Nothing is decided yet, so there is no certificate.'}
        </p>
      )}
      <details>
        <summary>What a signed vote is bound to</summary>
        <JsonView value={ballot} />
      </details>
    </section>
  );
}

import { Type } from 'typebox';

const timestamp = Type.String({ format: 'date-time' });

const faultTolerance = Type.Object(
  {
    byzantine: Type.Integer({
      description: 'f: so many members may lie without two conflicting decisions; 0 below four',
    }),
    quorum: Type.Integer({ description: 'q: so many equal votes decide' }),
  },
  { $id: 'FaultTolerance' },
);

const ballot = Type.Object(
  {
    domain: Type.String(),
    meshId: Type.String(),
    proposalId: Type.String({
      description:
        'SHA-256 in hex of lp("ENNEAD-SWARM-v1/proposal") lp(name) lp(task.type) lp(task.input in RFC 8785)',
    }),
    configHash: Type.String({
      description:
        'SHA-256 in hex of lp("ENNEAD-SWARM-v1/config"), then lp(agentId) lp(voteKey or empty) of each member in the order of their ids, then lp(q in decimal)',
    }),
  },
  {
    $id: 'SwarmBallot',
    description:
      'What a signed vote is bound to. Signed are the bytes lp(domain) lp(meshId) lp(swarmId) lp(configHash) lp(proposalId) lp(valueHash) lp(agentId): lp(x) is the length of x in UTF-8 as 4 bytes, big-endian, and then x; valueHash is SHA-256 in hex of the vote’s text.',
  },
);

const stated = {
  swarmId: Type.String(),
  name: Type.String(),
  status: Type.String({
    description: '`active`, `consensus-reached`, `rejected`, `timed-out` or `cancelled`',
  }),
  agents: Type.Array(Type.String()),
  createdAt: timestamp,
  expiresAt: Type.Optional(timestamp),
  consensusReached: Type.Boolean({ description: 'whether it approved' }),
};

/** A swarm as its creation answers it. */
export const swarmAnswer = Type.Object(
  {
    ...stated,
    faultTolerance,
    livenessFaults: Type.Integer({ description: 'n - q: so many may stay silent' }),
    ballot,
  },
  { $id: 'Swarm' },
);

const castVote = Type.Object({
  agentId: Type.String(),
  vote: Type.String({ description: '`approve`, `reject` or `abstain`' }),
  confidence: Type.Number(),
  timestamp,
  signature: Type.Optional(Type.String()),
});

const certificate = Type.Object(
  {
    meshId: Type.String(),
    swarmId: Type.String(),
    proposalId: Type.String(),
    configHash: Type.String(),
    quorum: Type.Integer(),
    decision: Type.String({ description: '`approve` or `reject`' }),
    votes: Type.Array(Type.Object({ agentId: Type.String(), signature: Type.String() })),
  },
  {
    $id: 'SwarmCertificate',
    description:
      'At least q signed votes for the decision: whoever knows the members and their keys can check it without the mesh. It never changes.',
  },
);

/** How a swarm stands. */
export const swarmStatus = Type.Object(
  {
    ...stated,
    agentVotes: Type.Array(castVote, {
      description: 'one a member, in the order in which they came',
    }),
    finalDecision: Type.Optional(
      Type.String({ description: '`approve` or `reject`; absent while there is none' }),
    ),
    consensusAt: Type.Optional(timestamp),
    endedAt: Type.Optional(timestamp),
    confidence: Type.Optional(
      Type.Number({
        description:
          'the mean of those who decided without the f highest and f lowest, so that f liars cannot move it out of the range of the others',
      }),
    ),
    tally: Type.Object({
      approve: Type.Integer(),
      reject: Type.Integer(),
      abstain: Type.Integer(),
    }),
    consensus: Type.Object({
      type: Type.String(),
      threshold: Type.Integer(),
      timeout: Type.Integer({ description: 'milliseconds' }),
    }),
    faultTolerance,
    livenessFaults: Type.Integer(),
    ballot,
    members: Type.Array(
      Type.Object({
        agentId: Type.String(),
        voteKey: Type.Optional(Type.String({ description: '`x` of an Ed25519 JWK' })),
        joinedAt: Type.Optional(timestamp),
      }),
    ),
    certified: Type.Boolean({
      description:
        'false once it is decided: fewer than q of its votes are signed, so that the decision is the mesh’s word',
    }),
    certificate: Type.Optional(certificate),
    evidence: Type.Array(
      Type.Object({
        agentId: Type.String(),
        first: castVote,
        second: castVote,
        transferable: Type.Boolean({ description: 'both are signed' }),
      }),
      { description: 'two different votes of one member; the first stays counted' },
    ),
    lateVotes: Type.Array(castVote, {
      description: 'first votes that came after the end; they do not count',
    }),
  },
  { $id: 'SwarmStatus' },
);

/** A swarm as a list shows it. */
export const swarmSummary = Type.Object(stated);

/** What whoever voted is told. */
export const swarmVoteReceipt = Type.Object(
  {
    swarmId: Type.String(),
    agentId: Type.String(),
    vote: Type.String(),
    accepted: Type.Boolean(),
    repeated: Type.Boolean({ description: 'it had been counted before' }),
    status: Type.String(),
    consensusReached: Type.Boolean(),
    finalDecision: Type.Optional(Type.String()),
  },
  { $id: 'SwarmVoteReceipt' },
);

import type { Database } from '../../kit/database/database.ts';
import type { Proposal, VoteValue } from './ballot.ts';
import type { KeptVote, Member, Swarm, SwarmStatus } from './swarm.ts';

export type SwarmSql = Pick<Database, 'query'>;

interface SwarmRow {
  readonly id: string;
  readonly name: string;
  readonly owner_id: string;
  readonly mesh_id: string;
  readonly proposal_id: string;
  readonly threshold: number;
  readonly timeout_ms: number;
  readonly version: number;
  readonly status: SwarmStatus;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly members: readonly MemberRow[];
  readonly votes: readonly VoteRow[] | null;
}

interface MemberRow {
  readonly agent_id: string;
  readonly owner_id: string;
  readonly vote_key: string | null;
  readonly joined_ms: number | null;
}

interface VoteRow {
  readonly agent_id: string;
  readonly vote: VoteValue;
  readonly kind: KeptVote['kind'];
  readonly confidence: number;
  readonly signature: string | null;
  readonly cast_ms: number;
}

/** False, and nothing is stored, when the owner has that many active swarms or more. */
export async function insertSwarm(
  sql: SwarmSql,
  swarm: Swarm,
  { task, activeMax }: { readonly task: Proposal['task']; readonly activeMax: number },
): Promise<boolean> {
  const rows = await sql.query(
    `with swarm as (
       insert into mesh.swarms (id, name, owner_id, mesh_id, proposal_id, task, threshold,
         timeout_ms, created_at, expires_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9::timestamptz, $10::timestamptz
       where (select count(*) from mesh.swarms where owner_id = $3 and status = 'active') < $11
       returning id
     ), members as (
       insert into mesh.swarm_members (swarm_id, agent_id, owner_id, vote_key, joined_at, place)
       select swarm.id, m.agent_id, m.owner_id, m.vote_key, m.joined_at, m.place
       from swarm, ${membersFrom(12)}
     )
     select id from swarm`,
    [
      swarm.swarmId,
      swarm.name,
      swarm.ownerId,
      swarm.meshId,
      swarm.proposalId,
      JSON.stringify(task),
      swarm.threshold,
      swarm.timeoutMs,
      new Date(swarm.createdAtMs),
      new Date(swarm.expiresAtMs),
      activeMax,
      ...memberColumns(swarm, swarm.members),
    ],
  );
  return rows.length > 0;
}

export async function readSwarm(sql: SwarmSql, swarmId: string): Promise<Swarm | undefined> {
  const [row] = await sql.query<SwarmRow>(
    `select s.id, s.name, s.owner_id, s.mesh_id, s.proposal_id, s.threshold, s.timeout_ms,
       s.version, s.status, s.created_at, s.expires_at, s.ended_at,
       (select json_agg(json_build_object('agent_id', agent_id, 'owner_id', owner_id,
          'vote_key', vote_key, 'joined_ms', round(extract(epoch from joined_at) * 1000))
          order by place)
        from mesh.swarm_members where swarm_id = s.id) as members,
       (select json_agg(json_build_object('agent_id', agent_id, 'vote', vote, 'kind', kind,
          'confidence', confidence, 'signature', signature,
          'cast_ms', round(extract(epoch from cast_at) * 1000)) order by seq)
        from mesh.swarm_votes where swarm_id = s.id) as votes
     from mesh.swarms s where s.id = $1`,
    [swarmId],
  );
  return row && toSwarm(row);
}

/** What its members are asked to do. */
export async function readTask(sql: SwarmSql, swarmId: string): Promise<Proposal['task']> {
  const [row] = await sql.query<{ task: string }>('select task from mesh.swarms where id = $1', [
    swarmId,
  ]);
  // Written by this file.
  return JSON.parse(row?.task ?? '{"type":"","input":{}}') as Proposal['task'];
}

/**
 * Writes what changed, all or nothing; false, and nothing is written, when somebody else changed the
 * swarm meanwhile. Of several replicas exactly one moves a version.
 */
export async function saveSwarm(sql: SwarmSql, before: Swarm, after: Swarm): Promise<boolean> {
  const votes = after.votes.filter((vote) => !before.votes.includes(vote));
  const members = after.members.filter((member) => !before.members.includes(member));
  const rows = await sql.query(
    `with moved as (
       update mesh.swarms set version = version + 1, status = $3, ended_at = $4::timestamptz
       where id = $1 and version = $2 returning id
     ), votes as (
       insert into mesh.swarm_votes (swarm_id, agent_id, vote, kind, confidence, signature, cast_at)
       select moved.id, v.agent_id, v.vote, v.kind, v.confidence, v.signature, v.cast_at
       from moved, unnest($5::text[], $6::text[], $7::text[], $8::float8[], $9::text[],
         $10::timestamptz[]) with ordinality
         as v(agent_id, vote, kind, confidence, signature, cast_at, place)
       order by v.place
       on conflict (swarm_id, agent_id, vote) do update set signature = excluded.signature
     ), members as (
       insert into mesh.swarm_members (swarm_id, agent_id, owner_id, vote_key, joined_at, place)
       select moved.id, m.agent_id, m.owner_id, m.vote_key, m.joined_at, m.place
       from moved, ${membersFrom(11)}
       on conflict (swarm_id, agent_id) do update set joined_at = excluded.joined_at
     )
     select id from moved`,
    [
      before.swarmId,
      before.version,
      after.status,
      after.endedAtMs === undefined ? null : new Date(after.endedAtMs),
      votes.map(({ agentId }) => agentId),
      votes.map(({ vote }) => vote),
      votes.map(({ kind }) => kind),
      votes.map(({ confidence }) => confidence),
      votes.map(({ signature }) => signature ?? null),
      votes.map(({ castAtMs }) => new Date(castAtMs)),
      ...memberColumns(after, members),
    ],
  );
  return rows.length > 0;
}

/** The table of `memberColumns`, which begin with this parameter. */
function membersFrom(first: number): string {
  const types = ['text', 'text', 'text', 'timestamptz', 'integer'];
  const columns = types.map((type, at) => `$${first + at}::${type}[]`).join(', ');
  return `unnest(${columns}) as m(agent_id, owner_id, vote_key, joined_at, place)`;
}

function memberColumns({ members: all }: Swarm, members: readonly Member[]): unknown[] {
  return [
    members.map(({ agentId }) => agentId),
    members.map(({ ownerId }) => ownerId),
    members.map(({ voteKey }) => voteKey ?? null),
    members.map(({ joinedAtMs }) => (joinedAtMs === undefined ? null : new Date(joinedAtMs))),
    members.map((member) => all.indexOf(member)),
  ];
}

function toSwarm(row: SwarmRow): Swarm {
  return {
    swarmId: row.id,
    name: row.name,
    ownerId: row.owner_id,
    meshId: row.mesh_id,
    proposalId: row.proposal_id,
    threshold: row.threshold,
    timeoutMs: row.timeout_ms,
    version: row.version,
    status: row.status,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    endedAtMs: row.ended_at?.getTime(),
    members: row.members.map((member) => ({
      agentId: member.agent_id,
      ownerId: member.owner_id,
      voteKey: member.vote_key ?? undefined,
      joinedAtMs: member.joined_ms ?? undefined,
    })),
    votes: (row.votes ?? []).map((vote) => ({
      agentId: vote.agent_id,
      vote: vote.vote,
      kind: vote.kind,
      confidence: vote.confidence,
      signature: vote.signature ?? undefined,
      castAtMs: vote.cast_ms,
    })),
  };
}

import type { Database } from '../../kit/database/database.ts';
import type { AgentRow, AgentState, Beat, LastAgent, Removal, Silence } from './agent-row.ts';

export type AgentSql = Pick<Database, 'query'>;

const columns = `a.agent_id as "agentId", a.registration_id as "registrationId",
  a.owner_id as "ownerId", a.epoch, a.revision, a.capabilities, a.metadata, a.endpoints,
  a.is_idempotent as "isIdempotent", a.status, a.load,
  a.heartbeat_interval as "heartbeatInterval", a.registered_at_ms as "registeredAtMs",
  a.last_seen_ms as "lastSeenMs", a.public_key as "publicKey", a.vote_key as "voteKey",
  a.card_keys as "cardKeys", a.card`;

const stateColumns = `a.agent_id as "agentId", a.registration_id as "registrationId", a.epoch,
  a.revision, a.status, a.load, a.last_seen_ms as "lastSeenMs", a.public_key as "publicKey"`;

/** What a registration's row got of the table; the rest the caller knows. */
export type Registered = Pick<
  AgentRow,
  'agentId' | 'epoch' | 'revision' | 'publicKey' | 'voteKey' | 'cardKeys'
>;

/**
 * Stores registrations of different ids in one statement, each in the place of one of the same owner.
 * The answer lacks those whose id belongs to somebody else.
 */
export function upsertAgents(sql: AgentSql, agents: readonly LastAgent[]): Promise<Registered[]> {
  return sql.query<Registered>(
    `with n as (
       select * from json_to_recordset($1::json) as given ("agentId" text, steps integer,
         "registrationId" text, "ownerId" text, capabilities jsonb, metadata jsonb, endpoints jsonb,
         "isIdempotent" boolean, "heartbeatInterval" integer, "atMs" bigint, "publicKey" text,
         "voteKey" text, "cardKeys" jsonb, card jsonb)
     ), former as (
       delete from mesh.former_epochs f using n where f.agent_id = n."agentId"
       returning f.agent_id, f.epoch
     )
     insert into mesh.agents as a (agent_id, epoch, registration_id, owner_id, capabilities, metadata,
       endpoints, is_idempotent, status, reported, heartbeat_interval, registered_at_ms,
       last_seen_ms, public_key, vote_key, card_keys, card)
     select n."agentId", n.steps + coalesce(former.epoch, 0), n."registrationId", n."ownerId", n.capabilities, n.metadata, n.endpoints,
       n."isIdempotent", 'active', 'active', n."heartbeatInterval", n."atMs", n."atMs",
       n."publicKey", n."voteKey", n."cardKeys", n.card
     from n left join former on former.agent_id = n."agentId"
     order by n."agentId"
     on conflict (agent_id) do update set registration_id = excluded.registration_id,
       epoch = a.epoch + excluded.epoch, revision = nextval('mesh.agent_revisions'),
       capabilities = excluded.capabilities, metadata = excluded.metadata,
       endpoints = excluded.endpoints, is_idempotent = excluded.is_idempotent,
       status = 'active', reported = 'active', load = null,
       heartbeat_interval = excluded.heartbeat_interval,
       registered_at_ms = excluded.registered_at_ms, last_seen_ms = excluded.last_seen_ms,
       suspected_at_ms = null, flaps = 0, steady = 0,
       public_key = coalesce(excluded.public_key, a.public_key),
       vote_key = coalesce(excluded.vote_key, a.vote_key),
       card_keys = coalesce(excluded.card_keys, a.card_keys), card = excluded.card
     where a.owner_id = excluded.owner_id
     returning a.agent_id as "agentId", a.epoch, a.revision, a.public_key as "publicKey",
       a.vote_key as "voteKey", a.card_keys as "cardKeys"`,
    [JSON.stringify(agents)],
  );
}

/**
 * Notes signs of life of different agents in one statement. A suspect agent is well again at once;
 * one that fell silent three times or more within ten minutes of each other only after as many beats,
 * at most ten. The answer lacks agents that are offline or gone.
 */
export function noteBeats(sql: AgentSql, beats: readonly Beat[]): Promise<AgentState[]> {
  return sql.query<AgentState>(
    `update mesh.agents a set revision = nextval('mesh.agent_revisions'),
       last_seen_ms = greatest(a.last_seen_ms, b."atMs"), load = coalesce(b.load, a.load),
       reported = coalesce(b.status, a.reported),
       steady = case when a.status = 'suspect' then a.steady + 1 else 0 end,
       status = case
         when a.status = 'suspect' and a.flaps >= 3 and a.steady + 1 < least(a.flaps, 10)
         then 'suspect' else coalesce(b.status, a.reported) end
     from json_to_recordset($1::json) as b ("agentId" text, "atMs" bigint, load double precision,
       status text)
     where a.agent_id = b."agentId" and a.status <> 'offline'
     returning ${stateColumns}`,
    [JSON.stringify(beats)],
  );
}

/**
 * Notes agents that were heard of later than `beyondMs` as heard of at `nowMs`; the answer has those
 * that it changed.
 */
export function noteSetBack(
  sql: AgentSql,
  { nowMs, beyondMs }: { readonly nowMs: number; readonly beyondMs: number },
): Promise<AgentState[]> {
  return sql.query<AgentState>(
    `update mesh.agents a set revision = nextval('mesh.agent_revisions'), last_seen_ms = $1
     where a.last_seen_ms > $2 returning ${stateColumns}`,
    [nowMs, beyondMs],
  );
}

/** Notes silence of different agents in one statement; the answer has those that it changed. */
export function noteSilence(
  sql: AgentSql,
  silences: readonly Silence[],
  atMs: number,
): Promise<AgentState[]> {
  return sql.query<AgentState>(
    `update mesh.agents a set revision = nextval('mesh.agent_revisions'), status = s.status,
       steady = 0, suspected_at_ms = $2,
       flaps = case when s.status = 'offline' then a.flaps
         when a.suspected_at_ms > $2::bigint - 600000 then a.flaps + 1 else 1 end
     from json_to_recordset($1::json) as s ("agentId" text, "lastSeenMs" bigint, status text)
     where a.agent_id = s."agentId" and a.last_seen_ms <= s."lastSeenMs"
       and a.status not in ('offline', s.status)
     returning ${stateColumns}`,
    [JSON.stringify(silences), atMs],
  );
}

/** Gives an agent a key; undefined when there is no such agent of this owner. */
export async function updatePublicKey(
  sql: AgentSql,
  key: { readonly agentId: string; readonly ownerId: string; readonly publicKey: string },
): Promise<AgentRow | undefined> {
  const [row] = await sql.query<AgentRow>(
    `update mesh.agents a set public_key = $3, revision = nextval('mesh.agent_revisions')
     where a.agent_id = $1 and a.owner_id = $2 returning ${columns}`,
    [key.agentId, key.ownerId, key.publicKey],
  );
  return row;
}

/** Who sends the proof of which agent's key. */
export interface SentKeyProof {
  readonly commitment: string;
  readonly agentId: string;
  readonly ownerId: string;
  readonly publicKey: string;
}

/**
 * Notes who sent a proof first, and that the agent's other keys are replaced; false when somebody else
 * sent it before, or when it is of a key that another has replaced.
 */
export async function claimKeyProof(sql: AgentSql, proof: SentKeyProof): Promise<boolean> {
  const rows = await sql.query(
    `with sent as (
       insert into mesh.key_proofs as k (commitment, owner_id, agent_id, public_key)
       values ($1, $2, $3, $4)
       on conflict (commitment) do update set agent_id = coalesce(k.agent_id, excluded.agent_id),
         public_key = coalesce(k.public_key, excluded.public_key)
       returning owner_id, is_replaced
     ), claimed as (
       select from sent where owner_id = $2 and (not is_replaced or exists (
         select from mesh.agents a where a.agent_id = $3 and a.public_key = $4))
     ), replaced as (
       update mesh.key_proofs set is_replaced = true
       where agent_id = $3 and owner_id = $2 and public_key <> $4 and not is_replaced
         and exists (select from claimed)
     )
     select true as is_claimed from claimed`,
    [proof.commitment, proof.ownerId, proof.agentId, proof.publicKey],
  );
  return rows.length > 0;
}

/** Removes an agent as it was registered under this id; undefined when it is not there. */
export async function deleteAgent(
  sql: AgentSql,
  registrationId: string,
  nowMs: number,
): Promise<Removal | undefined> {
  const [removal] = await sql.query<Removal>(removalOf('a.registration_id = $2'), [
    nowMs,
    registrationId,
  ]);
  return removal;
}

/** Removes those that have been offline and unheard of since a moment. */
export function deleteOffline(
  sql: AgentSql,
  { beforeMs, nowMs }: { readonly beforeMs: number; readonly nowMs: number },
): Promise<Removal[]> {
  return sql.query<Removal>(removalOf(`a.status = 'offline' and a.last_seen_ms < $2`), [
    nowMs,
    beforeMs,
  ]);
}

/** Removes agents and keeps their epochs; the first parameter is the time. */
function removalOf(condition: string): string {
  return `with gone as (
      delete from mesh.agents a where ${condition} returning a.agent_id, a.epoch
    ), kept as (
      insert into mesh.former_epochs (agent_id, epoch, ended_at_ms)
      select agent_id, epoch, $1::bigint from gone
      on conflict (agent_id) do update set epoch = excluded.epoch,
        ended_at_ms = excluded.ended_at_ms
    )
    select agent_id as "agentId", nextval('mesh.agent_revisions') as revision from gone`;
}

/** Forgets the epochs of agents that have been gone since a moment. */
export async function deleteFormerEpochs(sql: AgentSql, beforeMs: number): Promise<void> {
  await sql.query('delete from mesh.former_epochs where ended_at_ms < $1', [beforeMs]);
}

export async function readAgent(sql: AgentSql, agentId: string): Promise<AgentRow | undefined> {
  const [row] = await readAgents(sql, [agentId]);
  return row;
}

/** Those of the ids that are there. */
export function readAgents(sql: AgentSql, agentIds: readonly string[]): Promise<AgentRow[]> {
  return sql.query<AgentRow>(
    `select ${columns} from mesh.agents a where a.agent_id = any($1::text[])`,
    [agentIds],
  );
}

/** The next thousand agents behind an id, by id. */
export function readPage(sql: AgentSql, afterId: string): Promise<AgentRow[]> {
  return sql.query<AgentRow>(
    `select ${columns} from mesh.agents a where a.agent_id > $1 order by a.agent_id limit 1000`,
    [afterId],
  );
}

/** The newest revision that was given out, to a change or a removal. */
export async function readLastRevision(sql: AgentSql): Promise<number> {
  const [row] = await sql.query<{ readonly last: number }>(
    'select last_value as last from mesh.agent_revisions',
  );
  return row?.last ?? 0;
}

/** The states with a higher revision, and how many agents there are. */
export async function readChanges(
  sql: AgentSql,
  afterRevision: number,
): Promise<{ readonly states: readonly AgentState[]; readonly count: number }> {
  const states = await sql.query<AgentState>(
    `select ${stateColumns} from mesh.agents a where a.revision > $1`,
    [afterRevision],
  );
  const [all] = await sql.query<{ readonly count: number }>(
    'select count(*)::integer as count from mesh.agents',
  );
  return { states, count: all?.count ?? 0 };
}

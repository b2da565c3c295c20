import type { Database } from '../../kit/database/database.ts';
import type { Attestation } from './attestation.ts';

export type AttestationSql = Pick<Database, 'query'>;

interface AttestationRow {
  readonly id: string;
  readonly status_index: number;
  readonly agent_id: string;
  readonly capability: string;
  readonly public_key: string;
  readonly owner_id: string;
  readonly kid: string;
  readonly verified_at: Date;
  readonly valid_until: Date;
  readonly revoked_at: Date | null;
}

const columns = `id, status_index, agent_id, capability, public_key, owner_id, kid,
  verified_at, valid_until, revoked_at`;

/** An attestation that is to be stored, under the commitment of its proof. */
export interface NewAttestation extends Omit<Attestation, 'statusIndex' | 'revokedAtMs'> {
  /** Hex digits. */
  readonly commitment: string;
}

/** Why one was not stored. */
export type Unstored = 'commitment_used' | 'key_changed' | 'key_withdrawn';

/**
 * Stores those whose commitment was never accepted before, whose agent has the key still and whose signer was
 * not withdrawn, whatever this process has heard; one statement. Answers by id what was stored, or why not.
 */
export async function insertAttestations(
  sql: AttestationSql,
  attestations: readonly NewAttestation[],
): Promise<ReadonlyMap<string, Attestation | Unstored>> {
  const given = attestations.map((attestation) => ({
    commitment: attestation.commitment,
    id: attestation.attestationId,
    agent_id: attestation.agentId,
    capability: attestation.capability,
    public_key: attestation.publicKey,
    owner_id: attestation.ownerId,
    kid: attestation.kid,
    verified_at: new Date(attestation.verifiedAtMs),
    valid_until: new Date(attestation.validUntilMs),
  }));
  const rows = await sql.query<StoredRow>(
    `with sent as (
       select * from json_to_recordset($1::json) as sent (commitment text, id text, agent_id text,
         capability text, public_key text, owner_id text, kid text, verified_at timestamptz,
         valid_until timestamptz)
     ), holders as (
       -- Whoever changes a key waits for this to be stored, and then revokes it.
       select a.agent_id, a.public_key from mesh.agents a
       where a.agent_id in (select agent_id from sent) order by a.agent_id for share
     ), judged as (
       select sent.*, decode(sent.commitment, 'hex') as spent,
         holders.agent_id is not null as is_held,
         exists (select from mesh.attestation_keys k where k.kid = sent.kid
           and (k.published_until is null or k.published_until > sent.verified_at)) as is_signed
       from sent left join holders using (agent_id, public_key)
     ), fresh as (
       insert into mesh.commitments (commitment)
       select distinct spent from judged where is_held and is_signed
       on conflict do nothing returning commitment
     ), stored as (
       insert into mesh.attestations (id, agent_id, capability, public_key, owner_id, kid,
         verified_at, valid_until, changed_at)
       select distinct on (spent) id, agent_id, capability, public_key, owner_id, kid,
         verified_at, valid_until, verified_at
       from judged join fresh on fresh.commitment = judged.spent
       where is_held and is_signed order by spent, id
       returning ${columns}
     )
     select judged.id as given_id, judged.is_held, judged.is_signed, stored.*
     from judged left join stored using (id)`,
    [JSON.stringify(given)],
  );
  return new Map(rows.map((row) => [row.given_id, outcomeOf(row)]));
}

type StoredRow = (AttestationRow | { readonly id: null }) & {
  readonly given_id: string;
  readonly is_held: boolean;
  readonly is_signed: boolean;
};

function outcomeOf(row: StoredRow): Attestation | Unstored {
  if (row.id !== null) return toAttestation(row);
  if (!row.is_held) return 'key_changed';
  return row.is_signed ? 'commitment_used' : 'key_withdrawn';
}

export async function readAttestation(
  sql: AttestationSql,
  id: string,
): Promise<Attestation | undefined> {
  const [row] = await sql.query<AttestationRow>(
    `select ${columns} from mesh.attestations where id = $1`,
    [id],
  );
  return row && toAttestation(row);
}

/** Those that were written since a time. */
export async function readChangedSince(sql: AttestationSql, since: Date): Promise<Attestation[]> {
  const rows = await sql.query<AttestationRow>(
    `select ${columns} from mesh.attestations where changed_at >= $1::timestamptz`,
    [since],
  );
  return rows.map(toAttestation);
}

export interface Revocation {
  readonly at: Date;
  readonly reason: string | undefined;
}

/** Ends one; undefined when there is none. One that was ended before stays as it was. */
export async function revokeAttestation(
  sql: AttestationSql,
  id: string,
  { at, reason }: Revocation,
): Promise<Attestation | undefined> {
  const [row] = await sql.query<AttestationRow>(
    `update mesh.attestations set
       reason = case when revoked_at is null then $3 else reason end,
       changed_at = case when revoked_at is null then $2::timestamptz else changed_at end,
       revoked_at = coalesce(revoked_at, $2::timestamptz)
     where id = $1 returning ${columns}`,
    [id, at, reason],
  );
  return row && toAttestation(row);
}

/** Ends all of an agent that still are good, and answers them. */
export async function revokeAttestationsOf(
  sql: AttestationSql,
  agentId: string,
  { at, reason }: Revocation,
): Promise<Attestation[]> {
  const rows = await sql.query<AttestationRow>(
    `update mesh.attestations set revoked_at = $2::timestamptz, changed_at = $2::timestamptz,
       reason = $3
     where agent_id = $1 and revoked_at is null and valid_until > $2::timestamptz
     returning ${columns}`,
    [agentId, at, reason],
  );
  return rows.map(toAttestation);
}

/** The places of revoked attestations, from one on and below another. */
export async function readRevokedIndexes(
  sql: AttestationSql,
  from: number,
  below: number,
): Promise<number[]> {
  const rows = await sql.query<{ status_index: number }>(
    `select status_index from mesh.attestations
     where revoked_at is not null and status_index >= $1 and status_index < $2`,
    [from, below],
  );
  return rows.map(({ status_index }) => status_index);
}

/** The highest place that is taken, 0 when there is none. */
export async function readNewestIndex(sql: AttestationSql): Promise<number> {
  const [row] = await sql.query<{ newest: number }>(
    'select coalesce(max(status_index), 0) as newest from mesh.attestations',
  );
  return row?.newest ?? 0;
}

/** Forgets those that ended before a time; their commitments stay spent. */
export async function deleteEndedBefore(sql: AttestationSql, time: Date): Promise<void> {
  await sql.query('delete from mesh.attestations where valid_until < $1::timestamptz', [time]);
}

function toAttestation(row: AttestationRow): Attestation {
  return {
    attestationId: row.id,
    statusIndex: row.status_index,
    agentId: row.agent_id,
    capability: row.capability,
    publicKey: row.public_key,
    ownerId: row.owner_id,
    kid: row.kid,
    verifiedAtMs: row.verified_at.getTime(),
    validUntilMs: row.valid_until.getTime(),
    revokedAtMs: row.revoked_at?.getTime(),
  };
}

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

/** Stores those whose commitment was never accepted before, and answers them; one statement. */
export async function insertAttestations(
  sql: AttestationSql,
  attestations: readonly NewAttestation[],
): Promise<Attestation[]> {
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
  const rows = await sql.query<AttestationRow>(
    `with given as (
       select distinct on (commitment) decode(commitment, 'hex') as spent, sent.*
       from json_to_recordset($1::json) as sent (commitment text, id text, agent_id text,
         capability text, public_key text, owner_id text, kid text, verified_at timestamptz,
         valid_until timestamptz)
       order by commitment, id
     ), fresh as (
       insert into mesh.commitments (commitment) select spent from given
       on conflict do nothing returning commitment
     )
     insert into mesh.attestations (id, agent_id, capability, public_key, owner_id, kid,
       verified_at, valid_until, changed_at)
     select id, agent_id, capability, public_key, owner_id, kid, verified_at, valid_until,
       verified_at
     from given join fresh on fresh.commitment = given.spent
     returning ${columns}`,
    [JSON.stringify(given)],
  );
  return rows.map(toAttestation);
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

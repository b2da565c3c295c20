import type { Database } from '../../kit/database/database.ts';

export type ChallengeSql = Pick<Database, 'query'>;

/** A challenge that waits for its one answer. */
export interface Challenge {
  readonly challengeId: string;
  readonly agentId: string;
  readonly capability: string;
  readonly publicKey: string;
  readonly commitment: string;
  readonly challenge: string;
  readonly expiresAt: Date;
}

interface ChallengeRow {
  readonly id: string;
  readonly agent_id: string;
  readonly capability: string;
  readonly public_key: string;
  readonly commitment: string;
  readonly challenge: string;
  readonly expires_at: Date;
}

/** Keeps a challenge until it is answered or expires. */
export async function insertChallenge(sql: ChallengeSql, challenge: Challenge): Promise<void> {
  const { challengeId, agentId, capability, publicKey, commitment, expiresAt } = challenge;
  await sql.query(
    `insert into mesh.challenges (id, agent_id, capability, public_key, commitment, challenge,
       expires_at)
     values ($1, $2, $3, $4, $5, $6, $7::timestamptz)`,
    [challengeId, agentId, capability, publicKey, commitment, challenge.challenge, expiresAt],
  );
}

/** Takes a challenge out: of all who ask for it, on any replica, one gets it. */
export async function takeChallenge(
  sql: ChallengeSql,
  challengeId: string,
): Promise<Challenge | undefined> {
  const [row] = await sql.query<ChallengeRow>(
    `delete from mesh.challenges where id = $1
     returning id, agent_id, capability, public_key, commitment, challenge, expires_at`,
    [challengeId],
  );
  return (
    row && {
      challengeId: row.id,
      agentId: row.agent_id,
      capability: row.capability,
      publicKey: row.public_key,
      commitment: row.commitment,
      challenge: row.challenge,
      expiresAt: row.expires_at,
    }
  );
}

/** Forgets the challenges that nobody answered in time. */
export async function deleteExpiredChallenges(sql: ChallengeSql, now: Date): Promise<void> {
  await sql.query('delete from mesh.challenges where expires_at < $1::timestamptz', [now]);
}

import type { RevocationList } from '../../kit/identity/revocations.ts';

/**
 * The first second, from this one on, whose tokens no revocation of their subject covers, in Unix
 * seconds. A revocation covers all of its second, so a subject that was disabled and enabled again
 * within one has its tokens from the next.
 */
export function issueTimeOf(revocations: RevocationList, subject: string): number {
  const now = Math.floor(Date.now() / 1000);
  const token = { tokenId: '', sessionId: '', keyId: '', subject, issuedAt: now };
  const revocation = revocations.find(token);
  return revocation ? revocation.revokedAt + 1 : now;
}

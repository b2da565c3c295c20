import type { PeerCertificate } from 'node:tls';
import { Fault } from '../../kit/errors.ts';

/** The SPIFFE id of the mesh itself, as server and as the caller of agents. */
export const meshSpiffeId = 'spiffe://ennead/mesh';

const agentPrefix = 'spiffe://ennead/agent/';
const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** What a certificate of ours says of its holder. */
export interface PeerIdentity {
  readonly agentId: string;
  /** The subject of the token that the certificate was issued to. */
  readonly ownerId: string;
  readonly expiresAtMs: number;
}

/** The fields of a peer's certificate that are looked at. */
export type SeenCertificate = Pick<PeerCertificate, 'subject' | 'subjectaltname' | 'valid_to'>;

/** Throws `invalid` for an id that cannot be the last segment of a path (SPIFFE ID, section 2.2). */
export function spiffeIdOf(agentId: string): string {
  if (idPattern.test(agentId) && agentId !== '.' && agentId !== '..') return agentPrefix + agentId;
  throw new Fault('invalid', 'an agent with this id cannot have a certificate', {
    reason: 'validation_error',
    detail: { agentId },
  });
}

/**
 * The one SPIFFE id of a certificate that has been verified; undefined for none and for several
 * (X509-SVID, section 2: more than one URI must be rejected).
 */
export function spiffeIdIn({ subjectaltname = '' }: SeenCertificate): string | undefined {
  const uris = subjectaltname.split(', ').filter((name) => name.startsWith('URI:'));
  return uris.length === 1 ? uris[0]?.slice('URI:'.length) : undefined;
}

/** Whose a verified certificate is; throws `unauthenticated` for one that no agent can have. */
export function peerIdentityOf(certificate: SeenCertificate): PeerIdentity {
  const spiffeId = spiffeIdIn(certificate) ?? '';
  const agentId = spiffeId.startsWith(agentPrefix) ? spiffeId.slice(agentPrefix.length) : '';
  const ownerId = ownerIn(certificate.subject);
  if (!idPattern.test(agentId) || ownerId === undefined) {
    throw new Fault('unauthenticated', 'the client certificate names no agent', {
      reason: 'invalid_certificate',
    });
  }
  return { agentId, ownerId, expiresAtMs: Date.parse(certificate.valid_to) };
}

/** Node answers a list where a name occurs more than once. */
function ownerIn(subject: PeerCertificate['subject']): string | undefined {
  const { UID: owner } = subject as unknown as Readonly<Record<string, unknown>>;
  return typeof owner === 'string' && owner !== '' ? owner : undefined;
}

import type { PeerCertificate } from 'node:tls';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';

/** The SPIFFE id of the mesh itself, as server and as the caller of agents. */
export const meshSpiffeId = 'spiffe://ennead/mesh';

const agentPrefix = 'spiffe://ennead/agent/';
const encodedPrefix = 'spiffe://ennead/agent-base64url/';
const epochPrefix = 'epoch-';
/** The title of a subject that is a service. */
export const serviceTitle = 'service';
const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** The token that a certificate was issued to: what ends it ends the certificate. */
export interface CertificateGrant {
  /** Its subject. */
  readonly ownerId: string;
  /** The login session or API key that it was issued under. */
  readonly sessionId: string;
  /** The epoch of its subject's tokens. */
  readonly tokenEpoch: number;
  readonly kind: Identity['kind'];
}

/** What a certificate of ours says of its holder. */
export interface PeerIdentity extends CertificateGrant {
  readonly agentId: string;
  readonly expiresAtMs: number;
}

/** The fields of a peer's certificate that are looked at. */
export type SeenCertificate = Pick<PeerCertificate, 'subject' | 'subjectaltname' | 'valid_to'>;

/**
 * The SPIFFE id of an agent. Segments of its path have no colons and nothing is percent-encoded (SPIFFE
 * ID, section 2.2), so that an id with one stands in base64url below a name of its own. Throws `invalid`
 * for an id that no agent can have.
 */
export function spiffeIdOf(agentId: string): string {
  if (isAgentId(agentId)) {
    return agentId.includes(':')
      ? encodedPrefix + Buffer.from(agentId).toString('base64url')
      : agentPrefix + agentId;
  }
  throw new Fault('invalid', 'an agent with this id cannot have a certificate', {
    reason: 'validation_error',
    detail: { agentId },
  });
}

/**
 * The one SPIFFE id of a certificate that has been verified; undefined for none and for several
 * (X509-SVID, section 2: more than one URI must be rejected).
 */
function spiffeIdIn({ subjectaltname = '' }: SeenCertificate): string | undefined {
  const uris = subjectaltname.split(', ').filter((name) => name.startsWith('URI:'));
  return uris.length === 1 ? uris[0]?.slice('URI:'.length) : undefined;
}

/** Whose a verified certificate is; throws `unauthenticated` for one that no agent can have. */
export function peerIdentityOf(certificate: SeenCertificate): PeerIdentity {
  const spiffeId = spiffeIdIn(certificate) ?? '';
  const agentId = agentIdIn(spiffeId);
  const grant = grantIn(certificate.subject);
  if (agentId === undefined || grant === undefined) {
    throw new Fault('unauthenticated', 'the client certificate names no agent', {
      reason: 'invalid_certificate',
    });
  }
  return { agentId, ...grant, expiresAtMs: Date.parse(certificate.valid_to) };
}

/** Undefined for what `spiffeIdOf` answers for no agent. */
function agentIdIn(spiffeId: string): string | undefined {
  const agentId = spiffeId.startsWith(encodedPrefix)
    ? Buffer.from(spiffeId.slice(encodedPrefix.length), 'base64url').toString()
    : spiffeId.slice(agentPrefix.length);
  return isAgentId(agentId) && spiffeIdOf(agentId) === spiffeId ? agentId : undefined;
}

function isAgentId(text: string): boolean {
  return idPattern.test(text) && text !== '.' && text !== '..';
}

/** Node answers a list where a name occurs more than once. */
function grantIn(subject: PeerCertificate['subject']): CertificateGrant | undefined {
  const names = subject as unknown as Readonly<Record<string, unknown>>;
  const { UID: ownerId, OU: sessionId, serialNumber, title } = names;
  if (!isName(ownerId) || !isName(sessionId) || !isName(serialNumber)) return undefined;
  const kind = title === serviceTitle ? 'service' : 'user';
  return { ownerId, sessionId, tokenEpoch: epochIn(serialNumber), kind };
}

/** What the subject of a certificate says of its grant's epoch, as its `serialNumber`. */
export function epochName({ tokenEpoch }: CertificateGrant): string {
  return `${epochPrefix}${tokenEpoch}`;
}

/** The first epoch for a certificate that does not say. */
function epochIn(name: string): number {
  return name.startsWith(epochPrefix) ? Number(name.slice(epochPrefix.length)) : 0;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

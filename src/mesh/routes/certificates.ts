import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Activity } from '../activity/activity.ts';
import type { CertificateAuthority } from '../certificates/authority.ts';
import type { certificateRoutes as routes } from '../schemas/certificates.ts';

type CertificateHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface CertificateHandlerParts {
  readonly authority: Pick<CertificateAuthority, 'issue' | 'roll' | 'bundle'>;
  /** Who owns an agent now; undefined for one that is not registered. */
  readonly ownerOf: (agentId: string) => string | undefined;
  readonly activity: Activity;
}

/** The edge of the certificates. */
export function certificateHandlers(parts: CertificateHandlerParts): CertificateHandlers {
  const { authority, ownerOf, activity } = parts;
  return {
    issueCertificate: async ({ body, identity }) => {
      const { agentId, csr } = body;
      const { subject, sessionId, tokenEpoch, kind } = identity;
      const ownerId = ownerOf(agentId);
      if (ownerId !== undefined && ownerId !== subject) {
        throw new Fault('forbidden', 'the agent belongs to somebody else', {
          reason: 'not_agent_owner',
          detail: { agentId },
        });
      }
      const grant = { ownerId: subject, sessionId, tokenEpoch, kind };
      const issued = await authority.issue({ agentId, csr, grant });
      const expiresAt = issued.expiresAt.toISOString();
      activity.tell('certificate-issued', agentId, { serial: issued.serial, expiresAt });
      return { certificate: issued.certificate, ca: issued.ca, expiresAt };
    },
    rollRoot: async ({ body: { urgent = false } }) => {
      const { generation, signsFrom } = await authority.roll({ isUrgent: urgent });
      return { generation, signsFrom: signsFrom.toISOString(), ca: authority.bundle };
    },
    readRoots: () => ({ ca: authority.bundle }),
  };
}

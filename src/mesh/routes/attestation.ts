import { createHash } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { WrittenBytes } from '../../kit/written-json.ts';
import type { AttestationParts } from '../attestation/parts.ts';
import { statusListMaxAgeSeconds } from '../attestation/status-lists.ts';
import type { attestationRoutes as routes } from '../schemas/attestation.ts';

type AttestationHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

const keySetMaxAgeSeconds = 300;

/** The edge of attestation. */
export function attestationHandlers({
  attestations,
  lists,
  jwk,
}: Pick<AttestationParts, 'attestations' | 'lists' | 'jwk'>): AttestationHandlers {
  const keySet = { keys: [jwk] };
  const keySetTag = `"${createHash('sha256').update(JSON.stringify(keySet)).digest('base64url')}"`;
  return {
    attestCapability: ({ body }) => attestations.attest(body),
    issueChallenge: ({ body }) => attestations.challenge(body),
    verifyCapability: ({ body }) => attestations.verify(body),
    revokeAttestation: ({ body: { attestationId, reason }, identity }) => {
      const { subject, permissions } = identity;
      return attestations.revoke(attestationId, { reason, by: { subject, permissions } });
    },
    jwks: (call) => {
      call.setHeader('cache-control', `public, max-age=${keySetMaxAgeSeconds}`);
      call.setHeader('etag', keySetTag);
      if (call.headers['if-none-match'] === keySetTag) call.setStatus(304);
      return keySet;
    },
    readStatusList: async (call) => {
      const list = await lists.find(call.params.number);
      if (!list) throw unknownList(call.params.number);
      call.setHeader('cache-control', `public, max-age=${statusListMaxAgeSeconds}`);
      call.setHeader('etag', list.etag);
      if (call.headers['if-none-match'] === list.etag) call.setStatus(304);
      return new WrittenBytes(Buffer.from(list.token), 'application/statuslist+jwt');
    },
  };
}

function unknownList(number: number): Fault {
  const reason = 'status_list_not_found';
  return new Fault('not_found', 'there is no such status list', { reason, detail: { number } });
}

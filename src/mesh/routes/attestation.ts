import { createHash } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { WrittenBytes } from '../../kit/answers/written-json.ts';
import type { AttestationParts } from '../attestation/parts.ts';
import { keySetMaxAgeSeconds } from '../attestation/signing-key.ts';
import { statusListMaxAgeSeconds } from '../attestation/status-lists.ts';
import type { attestationRoutes as routes } from '../schemas/attestation.ts';

type AttestationHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

/** The edge of attestation. */
export function attestationHandlers({
  attestations,
  lists,
  keys,
  rotateKey,
}: Pick<AttestationParts, 'attestations' | 'lists' | 'keys' | 'rotateKey'>): AttestationHandlers {
  return {
    attestCapability: ({ body }) => attestations.attest(body),
    issueChallenge: ({ body }) => attestations.challenge(body),
    verifyCapability: ({ body }) => attestations.verify(body),
    revokeAttestation: ({ body: { attestationId, reason }, identity }) => {
      const { subject, permissions } = identity;
      return attestations.revoke(attestationId, { reason, by: { subject, permissions } });
    },
    rotateAttestationKey: async ({ body: { compromised = false } }) => {
      const { kid, signsFromMs } = await rotateKey({ isCompromised: compromised });
      return { kid, signsFrom: new Date(signsFromMs).toISOString() };
    },
    jwks: (call) => {
      const keySet = { keys: [...keys.published] };
      const keySetTag = `"${createHash('sha256').update(JSON.stringify(keySet)).digest('base64url')}"`;
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

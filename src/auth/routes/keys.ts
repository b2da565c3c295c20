import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';

const keySetMaxAgeSeconds = 300;

/** The edge of the signing keys: their public halves, and their administration. */
export function keyHandlers({ signingKeys, keyring }: AuthParts) {
  return {
    jwks: async (call) => {
      await keyring.freshen();
      const { etag, keys } = keyring;
      call.setHeader('cache-control', `public, max-age=${keySetMaxAgeSeconds}`);
      call.setHeader('etag', etag);
      if (call.headers['if-none-match'] === etag) call.setStatus(304);
      return { keys: [...keys] };
    },
    listKeys: async ({ query }) => {
      const { keys, total } = await signingKeys.list(query);
      return {
        keys: keys.map(({ kid, state, created_at, state_changed_at }) => ({
          kid,
          state,
          createdAt: created_at.toISOString(),
          stateChangedAt: state_changed_at.toISOString(),
        })),
        total,
        ...query,
      };
    },
    rotateKey: async ({ identity, origin }) => {
      const { rotatedAt, ...kids } = await signingKeys.rotate({ identity, origin });
      return { ...kids, rotatedAt: rotatedAt.toISOString() };
    },
    revokeKey: async ({ params, body, identity, origin }) => {
      const by = { identity, origin };
      const { revokedAt, ...kids } = await signingKeys.revoke(params.kid, body ?? {}, by);
      return { ...kids, revoked: true, revokedAt: revokedAt.toISOString() };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

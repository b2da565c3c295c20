import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { Fault } from '../errors.ts';

export interface RemoteKeysOptions {
  readonly fetchKeys: () => Promise<JSONWebKeySet>;
}

const freshMs = 300_000;
const cooldownMs = 1_000;

/**
 * The suite's public keys (RFC 7517), fetched when needed: at once for a key id not seen yet (at most
 * once a second, so invented ids cannot flood the issuer) and every five minutes else. While the
 * issuer is away the keys last seen stay in force.
 */
export function createRemoteKeys({ fetchKeys }: RemoteKeysOptions): JWTVerifyGetKey {
  let keySet: ReturnType<typeof createLocalJWKSet> | undefined;
  let keyIds = new Set<string | undefined>();
  let triedAt = Number.NEGATIVE_INFINITY;
  let isFetching: Promise<void> | undefined;

  const fetchOnce = async () => {
    triedAt = Date.now();
    const fetched = await fetchKeys();
    keySet = createLocalJWKSet(fetched);
    keyIds = new Set(fetched.keys.map(({ kid }) => kid));
  };
  const refresh = () => {
    isFetching ??= fetchOnce().finally(() => {
      isFetching = undefined;
    });
    return isFetching;
  };

  return async (header, token) => {
    const ageMs = Date.now() - triedAt;
    const isUnknown = !keyIds.has(header.kid);
    if (isFetching || (isUnknown && ageMs > cooldownMs) || ageMs > freshMs) {
      await refresh().catch((cause: unknown) => {
        if (!keySet) throw unavailable(cause);
      });
    }
    if (!keySet) throw unavailable();
    return keySet(header, token);
  };
}

function unavailable(cause?: unknown): Fault {
  return new Fault('unavailable', 'the signing keys cannot be read now', { cause, retryAfter: 1 });
}

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { Fault } from '../errors.ts';
import { FreshReads } from './fresh-reads.ts';

export interface RemoteKeysOptions {
  readonly fetchKeys: () => Promise<JSONWebKeySet>;
}

interface KnownKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly ids: ReadonlySet<string | undefined>;
}

const freshMs = 300_000;
const retryMs = 10_000;

/**
 * The suite's public keys (RFC 7517). A key id that is not known is refused only after a fetch that
 * began when it had been seen, so a key that has just begun to sign is never refused; that the
 * issuer could not be asked is `unavailable`, no refusal. Invented ids cannot flood the issuer.
 * Known keys are asked for again every five minutes, and stay in force while the issuer is away.
 */
export function createRemoteKeys({ fetchKeys }: RemoteKeysOptions): JWTVerifyGetKey {
  let known: KnownKeys | undefined;
  let checkAt = 0;
  const reads = new FreshReads(async () => {
    const fetched = await fetchKeys();
    known = {
      find: createLocalJWKSet(fetched),
      ids: new Set(fetched.keys.map(({ kid }) => kid)),
    };
    checkAt = Date.now() + freshMs;
  });
  const checkWhenDue = () => {
    if (Date.now() < checkAt) return;
    checkAt = Date.now() + retryMs;
    reads.now().catch(() => {});
  };

  return async (header, token) => {
    if (header.kid === undefined) throw new errors.JWKSNoMatchingKey();
    if (known?.ids.has(header.kid)) checkWhenDue();
    else await reads.paced().catch(throwUnavailable);
    if (!known) throw unavailable();
    return known.find(header, token);
  };
}

function throwUnavailable(cause: unknown): never {
  throw unavailable(cause);
}

function unavailable(cause?: unknown): Fault {
  return new Fault('unavailable', 'the signing keys cannot be read now', { cause, retryAfter: 1 });
}

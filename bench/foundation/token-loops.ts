import { createLocalJWKSet, decodeJwt, exportJWK, jwtVerify, SignJWT } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import { createTestIssuer } from '../../src/kit/testing.ts';
import { loadPeer } from '../harness/peers.ts';
import type { PrepareLoop } from './loops.ts';

const tokenCount = 500;
const bearer = 'Bearer ';

/** Ways to learn whose token it is, when all 500 tokens were seen before (jose keeps nothing). */
export const tokenLoops: Readonly<Record<string, PrepareLoop>> = {
  'token kit': async () => {
    const issuer = await createTestIssuer();
    const headers = await signHeaders(() => issuer.sign(claims));
    for (const header of headers) await issuer.verifier.verify(tokenOf(header));
    return (operations) => {
      for (let at = 0; at < operations; at += 1) {
        const identity = issuer.verifier.verify(nextToken(headers, at));
        if (identity instanceof Promise) throw new Error('a token was not in the cache');
      }
    };
  },

  'token map': async () => {
    const issuer = await createTestIssuer();
    const headers = await signHeaders(() => issuer.sign(claims));
    const identities = new Map(headers.map((header) => [tokenOf(header), {}]));
    return (operations) => {
      for (let at = 0; at < operations; at += 1) {
        if (!identities.get(nextToken(headers, at))) throw new Error('a token was not in the map');
      }
    };
  },

  'token fast-jwt': async () => {
    const { headers, publicKey, issuer } = await createPlainIssuer();
    const { createVerifier } = loadPeer('fast-jwt') as FastJwt;
    const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const options = { algorithms: ['RS256'], allowedIss: issuer, allowedAud: 'ennead' };
    const verify = createVerifier({ key, cache: tokenCount * 2, ...options });
    return (operations) => {
      for (let at = 0; at < operations; at += 1) verify(nextToken(headers, at));
    };
  },

  'token jose': async () => {
    const { headers, publicKey, issuer } = await createPlainIssuer();
    const jwk = { ...(await exportJWK(publicKey)), kid: 'plain', alg: 'RS256' };
    const keys = createLocalJWKSet({ keys: [jwk] });
    const options = { algorithms: ['RS256'], issuer, audience: 'ennead' };
    return async (operations) => {
      for (let at = 0; at < operations; at += 1) {
        await jwtVerify(nextToken(headers, at), keys, options);
      }
    };
  },
};

/** What is used of fast-jwt. */
interface FastJwt {
  readonly createVerifier: (options: {
    readonly key: string;
    readonly cache: number;
    readonly algorithms: readonly string[];
    readonly allowedIss: string;
    readonly allowedAud: string;
  }) => (token: string) => unknown;
}

const claims = {
  scope: 'openid profile email',
  roles: ['developer', 'analyst'],
  permissions: ['gateway:invoke', 'chat:read', 'chat:write', 'registry:read', 'workflow:execute'],
};

/** Tokens with the claims of the kit's, under a key that the peers can be given. */
async function createPlainIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kit = await createTestIssuer();
  const headers = await signHeaders(async () =>
    new SignJWT(decodeJwt(await kit.sign(claims)))
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'plain' })
      .sign(privateKey),
  );
  return { headers, publicKey, issuer: kit.url };
}

/** Authorization headers as bytes, the way they come off a socket. */
async function signHeaders(sign: () => Promise<string>): Promise<Buffer[]> {
  const tokens = await Promise.all(Array.from({ length: tokenCount }, sign));
  return tokens.map((token) => Buffer.from(bearer + token));
}

/** A new string each time: one that was looked up before keeps its hash, which no request enjoys. */
function tokenOf(header: Buffer): string {
  return header.toString('latin1', bearer.length);
}

function nextToken(headers: readonly Buffer[], turn: number): string {
  const header = headers[turn % headers.length];
  if (!header) throw new Error('there are no tokens');
  return tokenOf(header);
}

import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { keySetPath, statusListPath } from '../attestation/addresses.ts';

const permission = 'mesh:communicate';
const agentId = Type.String({ minLength: 1, maxLength: 128 });
const capability = Type.String({ minLength: 1, maxLength: 128 });
const attestationId = Type.String({ minLength: 1, maxLength: 128 });
const timestamp = Type.String({ format: 'date-time' });
const answeredHex = Type.String({ pattern: '^0x[0-9a-f]+$' });
const hex = (description: string) => Type.String({ pattern: '^0x[0-9A-Fa-f]*$', description });
const bound = (description: string) => Type.Optional(Type.String({ maxLength: 256, description }));

const proof = Type.Object(
  {
    type: Type.String({ maxLength: 64, description: '`zero-knowledge`' }),
    commitment: hex('R, a ristretto255 element: 0x and 64 hex digits, letters in lower case'),
    challenge: hex('c, a scalar: 0x and 32 bytes in hex, the lowest first'),
    response: hex('s = k + c·x, a scalar: 0x and 32 bytes in hex, the lowest first'),
    nonce: bound('part of the challenge'),
    issuedAt: bound('part of the challenge; ISO 8601 or Unix seconds, not in the future'),
    expiresAt: bound('part of the challenge; ISO 8601 or Unix seconds, not in the past'),
    challengeId: Type.Optional(
      Type.String({
        maxLength: 128,
        description: 'of the interactive form: c is the one asked for',
      }),
    ),
  },
  { $id: 'CapabilityProof' },
);

const attestation = Type.Object(
  {
    attestationId: Type.String(),
    agentId: Type.String(),
    capability: Type.String(),
    verified: Type.Boolean(),
    validUntil: timestamp,
    signature: Type.String({
      pattern: '^0x[0-9a-f]+$',
      description: "the mesh's Ed25519 signature: that of `token`",
    }),
    token: Type.String({
      description: `a compact JWS that \`${keySetPath}\` verifies offline; its \`status.uri\` tells of revocation`,
    }),
    reason: Type.Optional(
      Type.String({
        description:
          'why it is not verified: `unknown_agent`, `no_key`, `unknown_type`, `bad_encoding`, `not_in_time`, `unknown_challenge`, `not_proved`, `commitment_used`',
      }),
    ),
  },
  { $id: 'Attestation' },
);

const verification = Type.Object(
  {
    valid: Type.Boolean(),
    agentId: Type.String(),
    capability: Type.String(),
    verifiedAt: Type.String({ format: 'date-time', description: 'when this was found out' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'when it ends or ended; of an unknown one, the same as `verifiedAt`',
    }),
    reason: Type.Optional(
      Type.String({
        description:
          'why it is not valid: `unknown`, `expired`, `revoked`, `key_changed` (the agent’s), `key_withdrawn` (the mesh’s)',
      }),
    ),
  },
  { $id: 'AttestationVerification' },
);

const publicKey = Type.Object({
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: Type.String(),
  kid: Type.String(),
  use: Type.Literal('sig'),
  alg: Type.Literal('EdDSA'),
});

const open = { auth: 'none', rateLimit: 'none', trace: 'none' } as const;

/** Proving, verifying and revoking capabilities, and what verifies them offline. */
export const attestationRoutes = {
  attestCapability: {
    method: 'POST',
    url: '/api/v1/acap/attest',
    summary: 'Prove that an agent holds its registered key, for a capability',
    description:
      'A Schnorr proof on ristretto255 (RFC 9496): with the key P = x·G and a fresh k, `commitment` is R = k·G; `challenge` is c = SHA-512(lp(`ENNEAD-ACAP-v1/schnorr-ristretto255-sha512/attest`) ‖ lp(P) ‖ lp(R) ‖ lp(agentId) ‖ lp(capability) ‖ lp(nonce) ‖ lp(issuedAt) ‖ lp(expiresAt)), its lowest byte first, modulo the order of the group, where lp puts the length before the bytes, four bytes, the highest first, and what is absent is empty; `response` is s = k + c·x. 200 in every case: a proof that cannot be checked, does not hold or whose commitment was accepted before is answered with `verified: false`. What the agent registered is not compared.',
    permission,
    schema: {
      body: Type.Object({ agentId, capability, proof }),
      response: { 200: attestation },
    },
  },
  issueChallenge: {
    method: 'POST',
    url: '/api/v1/acap/challenge',
    summary: 'Get a challenge to a commitment: one attempt, within 30 seconds',
    permission,
    schema: {
      body: Type.Object({
        agentId,
        capability,
        commitment: hex('R, a ristretto255 element: 0x and 64 hex digits, letters in lower case'),
      }),
      response: {
        201: Type.Object({
          challengeId: Type.String(),
          challenge: answeredHex,
          expiresAt: timestamp,
        }),
      },
    },
  },
  verifyCapability: {
    method: 'POST',
    url: '/api/v1/acap/verify',
    summary: 'Say whether an attestation is good at this moment',
    schema: {
      body: Type.Object({ attestationId, agentId, capability }),
      response: { 200: verification },
    },
  },
  revokeAttestation: {
    method: 'POST',
    url: '/api/v1/acap/revoke',
    summary: "End an attestation of one's own agent for good",
    permission,
    schema: {
      body: Type.Object({ attestationId, reason: Type.Optional(Type.String({ maxLength: 256 })) }),
      response: {
        200: Type.Object({
          attestationId: Type.String(),
          revoked: Type.Literal(true),
          revokedAt: timestamp,
        }),
      },
    },
  },
  rotateAttestationKey: {
    method: 'POST',
    url: '/api/v1/acap/keys/rotate',
    summary: 'Let the next key sign attestations',
    description:
      'It is published at once and signs some minutes later, when no key set without it is kept any more; the one before stays published until all that it signed has expired. While a key waits to sign no other is made. With `compromised` the present key is withdrawn now: what it signed verifies no more, and agents attest again.',
    permission: 'mesh:admin',
    schema: {
      body: Type.Object({ compromised: Type.Optional(Type.Boolean()) }),
      response: { 200: Type.Object({ kid: Type.String(), signsFrom: timestamp }) },
    },
  },
  jwks: {
    ...open,
    method: 'GET',
    url: keySetPath,
    summary: 'The public keys that verify attestations and status lists (RFC 7517)',
    schema: {
      response: { 200: Type.Object({ keys: Type.Array(publicKey, { maxItems: 1_000 }) }) },
    },
  },
  readStatusList: {
    ...open,
    method: 'GET',
    url: `${statusListPath}/:number`,
    summary: 'Which attestations were revoked: a signed bitmap (Token Status List)',
    description:
      'A compact JWS of the type `statuslist+jwt`. In `status_list.lst`, base64url of zlib, bit `idx` says that the attestation was revoked; bit 0 is the lowest of the first byte.',
    schema: {
      params: Type.Object({
        number: Type.Integer({
          minimum: 0,
          maximum: 2 ** 31,
          description: 'of a status list, as attestations name it',
        }),
      }),
      response: { 200: Type.String() },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

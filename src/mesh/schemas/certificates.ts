import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { AgentId } from './agents.ts';

const certificatesPath = '/api/v1/certificates';
const csrCharsMax = 8_192;

const ca = Type.String({
  description: 'all roots that are trusted now, PEM; trust exactly these, and ask again in time',
});

/** The routes of the certificates. */
export const certificateRoutes = {
  issueCertificate: {
    method: 'POST',
    url: certificatesPath,
    summary: 'Get a certificate for an agent, as its owner',
    description:
      'For gRPC, as client and as server. It lives for an hour: get the next one after half of that. An agent that is not registered yet is anybody’s; whoever registers it makes all others’ certificates worthless. The only URI in it is `spiffe://ennead/agent/<agentId>`, for an id with a colon `spiffe://ennead/agent-base64url/<its base64url>`; of the request’s names those of the loopback are kept, all else in it is ignored.',
    permission: 'mesh:communicate',
    schema: {
      body: Type.Object(
        {
          agentId: AgentId,
          csr: Type.String({
            minLength: 1,
            maxLength: csrCharsMax,
            description:
              'PKCS #10 in PEM; the key is P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits',
          }),
        },
        { $id: 'CertificateRequest' },
      ),
      response: {
        201: Type.Object(
          {
            certificate: Type.String({ description: 'PEM' }),
            ca,
            expiresAt: Type.String({ format: 'date-time' }),
          },
          { $id: 'IssuedCertificate' },
        ),
      },
    },
  },
  rollRoot: {
    method: 'POST',
    url: `${certificatesPath}/ca/roll`,
    summary: 'Make the next root of the agents’ certificates',
    description:
      'It is trusted at once and signs when the life of a certificate, an hour, has passed: by then every agent that renews in time knows it, and no call fails. With `urgent` it signs at once, and an agent that has not read the roots again does not trust the mesh until it has. The root before stays trusted until its last certificate has expired. While a root waits to sign, only an urgent one is made.',
    permission: 'mesh:admin',
    schema: {
      body: Type.Object({ urgent: Type.Optional(Type.Boolean()) }),
      response: {
        200: Type.Object(
          {
            generation: Type.Integer({ description: 'of the newest root, counted from 1' }),
            signsFrom: Type.String({ format: 'date-time' }),
            ca,
          },
          { $id: 'RolledRoot' },
        ),
      },
    },
  },
  readRoots: {
    method: 'GET',
    url: `${certificatesPath}/ca`,
    summary: 'Read the roots that are trusted now',
    auth: 'none',
    schema: { response: { 200: Type.Object({ ca }) } },
  },
} as const satisfies Record<string, Route>;

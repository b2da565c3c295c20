import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { agentStatuses } from '../agents/agent.ts';
import { reportedStatuses } from '../agents/agent-row.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const idPattern = '^[A-Za-z0-9._:-]{1,128}$';
const idWords = '1 to 128 letters, digits or any of . _ : -';
/** The id of an agent, or of a task. */
export const AgentId = Type.String({ pattern: idPattern, description: idWords });
const Capability = Type.String({ minLength: 1, maxLength: 128 });
const Capabilities = Type.Array(Capability, { maxItems: 100 });
const Status = Type.Enum([...agentStatuses]);
const Load = Type.Number({ minimum: 0, maximum: 1, description: '0..1' });
const Time = Type.String({ format: 'date-time' });
const HeartbeatInterval = Type.Integer({ minimum: 1, maximum: 3_600, description: 'seconds' });
const Epoch = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: 'refused with 409 when it was replaced since',
});
const AnyObject = Type.Record(AnyKey, Type.Unknown());
const Hex = Type.String({ pattern: '^0x[0-9a-fA-F]{1,256}$' });

const PublicKey = Type.String({
  pattern: '^0x[0-9a-f]{64}$',
  description: 'its ristretto255 key for attestations: 0x and 64 digits, letters in lower case',
});
const keyProof = Type.Object(
  { commitment: Hex, challenge: Hex, response: Hex },
  { description: 'proof of possession of `publicKey`' },
);

const endpoints = Type.Object({
  grpc: Type.Optional(Type.String({ maxLength: 512, description: '`host:port`' })),
  rest: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'base URL: tasks go to `{rest}/tasks`' }),
  ),
  a2a: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'where it speaks A2A (JSON-RPC)' }),
  ),
  a2aVersion: Type.Optional(Type.Enum(['1.0', '0.3'])),
});

const jwk = Type.Intersect([AnyObject, Type.Object({ kty: Type.String() })]);

const registration = Type.Object({
  agentId: Type.Optional(
    Type.String({
      pattern: idPattern,
      description: `${idWords}; needed unless a card is sent, whose name is taken then`,
    }),
  ),
  capabilities: Type.Optional(Capabilities),
  metadata: Type.Optional(
    Type.Record(AnyKey, Type.Unknown(), {
      description: 'at most 16 KiB; discovery looks at `region`',
    }),
  ),
  endpoints: Type.Optional(endpoints),
  heartbeatInterval: Type.Optional(HeartbeatInterval),
  idempotent: Type.Optional(
    Type.Boolean({ description: 'a task may be given to it twice; also as `metadata.idempotent`' }),
  ),
  publicKey: Type.Optional(PublicKey),
  keyProof: Type.Optional(keyProof),
  voteKey: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      description: 'its Ed25519 key for votes: `x` of the JWK, 43 characters of base64url',
    }),
  ),
  agentCard: Type.Optional(
    Type.Record(AnyKey, Type.Unknown(), { description: 'an A2A agent card, 1.0 or 0.3' }),
  ),
  agentCardUrl: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'where the card lies; redirects are refused' }),
  ),
  cardKeys: Type.Optional(
    Type.Array(jwk, {
      minItems: 1,
      maxItems: 10,
      description: 'public keys (JWK), one of which must have signed this and later cards',
    }),
  ),
});

const registered = Type.Object({
  registrationId: Type.String(),
  agentId: Type.String(),
  status: Status,
  registeredAt: Time,
  heartbeatInterval: HeartbeatInterval,
  epoch: Type.Integer({ description: 'grows with every registration of the id' }),
  card: Type.Optional(
    Type.Object({
      name: Type.String(),
      version: Type.Optional(Type.String()),
      verified: Type.Boolean({ description: 'whether a pinned key had signed it' }),
    }),
  ),
});

/** An agent as whoever asks for it alone sees it. */
const agent = Type.Object(
  {
    agentId: Type.String(),
    registrationId: Type.String(),
    ownerId: Type.String(),
    capabilities: Type.Array(Type.String()),
    metadata: AnyObject,
    endpoints,
    status: Status,
    load: Load,
    idempotent: Type.Boolean(),
    registeredAt: Time,
    lastSeen: Time,
    heartbeatInterval: HeartbeatInterval,
    epoch: Type.Integer(),
    publicKey: Type.Optional(Type.String()),
    voteKey: Type.Optional(Type.String()),
    card: registered.properties.card,
  },
  { $id: 'Agent' },
);
export type AgentAnswer = Static<typeof agent>;

const agentParams = Type.Object({ agentId: AgentId });

const waiting = {
  index: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'answer once the result may have changed since the answer with this `X-Mesh-Index`',
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      description: 'seconds, 30 when only `index` is there',
    }),
  ),
};

/** Agents: registered, found, alive or not. */
export const agentRoutes = {
  registerAgent: {
    method: 'POST',
    url: '/api/v1/agents/register',
    summary: 'Register an agent, by what it says or by its A2A agent card',
    description:
      'The id is its owner’s: whoever registered it replaces the agent, all others get 409. Keys that a further registration does not name stay as they were.',
    permission: 'mesh:communicate',
    schema: { body: registration, response: { 201: registered } },
  },
  discoverAgents: {
    method: 'POST',
    url: '/api/v1/agents/discover',
    summary: 'Find agents that have all of the capabilities',
    isDirect: true,
    bodiesRecur: true,
    description:
      'The best first: active before busy, draining and suspect, and of two random ones the less loaded, by what it reports, else by the tasks that the mesh has it do. Offline agents only with `filters.status`. Behind `index` the answer waits for a change, loads apart.',
    schema: {
      query: Type.Object(waiting),
      body: Type.Object({
        capabilities: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100 })),
        filters: Type.Optional(
          Type.Object({
            region: Type.Optional(Type.String({ maxLength: 256 })),
            status: Type.Optional(Status),
            attested: Type.Optional(
              Type.Boolean({ description: 'only with valid attestations of what is asked for' }),
            ),
          }),
        ),
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000, description: '100 when absent' }),
        ),
        ...waiting,
      }),
      response: {
        200: Type.Object({
          agents: Type.Array(
            Type.Object({
              agentId: Type.String(),
              capabilities: Type.Array(Type.String()),
              endpoints,
              load: Load,
              status: Status,
              region: Type.Optional(Type.String()),
            }),
          ),
          totalFound: Type.Integer({ description: 'all that match, also beyond the limit' }),
        }),
      },
    },
  },
  listAgents: {
    method: 'GET',
    url: '/api/v1/agents',
    summary: 'List agents by id',
    schema: {
      query: Type.Object({
        ...pageQuery(),
        status: Type.Optional({ ...Status, description: 'only agents that stand so' }),
        capability: Type.Optional({ ...Capability, description: 'only agents that have it' }),
      }),
      response: {
        200: Type.Object({
          agents: Type.Array(agent),
          ...pageAnswer,
        }),
      },
    },
  },
  getAgent: {
    method: 'GET',
    url: '/api/v1/agents/:agentId',
    summary: 'Read an agent',
    schema: { params: agentParams, response: { 200: agent } },
  },
  deregisterAgent: {
    method: 'DELETE',
    url: '/api/v1/agents/:agentId',
    summary: 'Remove an agent; its owner may, and `mesh:admin`',
    permission: 'mesh:communicate',
    schema: {
      params: agentParams,
      query: Type.Object({ epoch: Type.Optional(Epoch) }),
      response: { 200: Type.Object({ agentId: Type.String(), deregistered: Type.Boolean() }) },
    },
  },
  beatAgent: {
    method: 'POST',
    url: '/api/v1/agents/:agentId/heartbeat',
    summary: 'Say that an agent lives, and how it does',
    description:
      'After three missed beats an agent is suspect, after six offline: then it must register again (409). One that fell silent three times within ten minutes of each other is well again only after as many beats.',
    permission: 'mesh:communicate',
    trace: 'none',
    schema: {
      params: agentParams,
      body: Type.Object({
        load: Type.Optional(Load),
        status: Type.Optional(Type.Enum([...reportedStatuses])),
        epoch: Type.Optional(Epoch),
      }),
      response: {
        200: Type.Object({
          agentId: Type.String(),
          status: Status,
          epoch: Type.Integer(),
          next: Type.Integer({ description: 'seconds until the next beat is due' }),
        }),
      },
    },
  },
  setAgentKey: {
    method: 'PUT',
    url: '/api/v1/agents/:agentId/key',
    summary: 'Give an agent the key of its attestations',
    permission: 'mesh:communicate',
    schema: {
      params: agentParams,
      body: Type.Object({ publicKey: PublicKey, keyProof }),
      response: { 200: Type.Object({ agentId: Type.String(), publicKey: Type.String() }) },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

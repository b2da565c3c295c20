import { Type } from 'typebox';
import {
  connectionStatuses,
  connectionTypes,
  healthStatuses,
  protocols,
} from '../connections/connection.ts';
import { listNames } from '../links/link.ts';
import { AnyKey } from '../../kit/any-key.ts';

/** Of a connection. */
export const Status = Type.Enum([...connectionStatuses]);
/** What is at the other end. */
export const ConnectionType = Type.Enum([...connectionTypes]);
/** How it is spoken to. */
export const Protocol = Type.Enum([...protocols]);
/** ISO 8601. */
export const Time = Type.String({ format: 'date-time' });
const rate = { minimum: 0, maximum: 1 };
/** Any JSON object. */
export const AnyObject = Type.Record(AnyKey, Type.Unknown());
/** Texts by name. */
export const Texts = Type.Record(AnyKey, Type.String());

/** Between two checks. */
export const Interval = Type.Integer({ minimum: 1, maximum: 86_400, description: 'seconds' });
/** Of a check. */
export const Timeout = Type.Integer({ minimum: 1, maximum: 600_000, description: 'milliseconds' });

/** What a connection can do. */
export const capability = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: Type.Optional(Type.String({ maxLength: 4_096 })),
  schema: Type.Optional(
    Type.Record(AnyKey, Type.Unknown(), { description: 'JSON Schema of the input' }),
  ),
});
const health = {
  status: Type.Enum([...healthStatuses]),
  reason: Type.Optional(Type.String({ description: 'why it is `degraded` or `error`' })),
  lastCheck: Type.Union([Time, Type.Null()], { description: 'null before the first check' }),
  uptime: Type.Integer({ description: 'whole seconds since when every check succeeded' }),
  errorRate: Type.Number({ minimum: 0, maximum: 1, description: 'of the checks, 0..1' }),
};

/** What a registration is answered with. */
export const registered = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Status,
  connection: Type.Object({
    id: Type.String(),
    type: ConnectionType,
    protocol: Protocol,
    capabilities: Type.Array(Type.String()),
    health: Type.Object(health),
  }),
  createdAt: Time,
});

const endpoint = Type.Object(
  {
    command: Type.Optional(Type.String()),
    args: Type.Optional(Type.Array(Type.String())),
    env: Type.Optional(Texts),
    url: Type.Optional(Type.String()),
    headers: Type.Optional(Texts),
  },
  { description: 'values of headers and secret-looking variables are `***`' },
);

const metrics = {
  requestsPerMinute: Type.Number({ description: 'of the last minute' }),
  averageLatency: Type.Number({ description: 'milliseconds' }),
  activeConnections: Type.Integer({ description: 'requests that are running' }),
};

const summaryFields = {
  id: Type.String(),
  name: Type.String(),
  type: ConnectionType,
  protocol: Protocol,
  status: Status,
  endpoint: Type.Optional(endpoint),
  metadata: AnyObject,
  createdAt: Time,
  lastActiveAt: Time,
};

/** A connection as lists show it. */
export const connectionSummary = Type.Object(
  {
    ...summaryFields,
    capabilities: Type.Array(Type.String(), {
      description: 'what it declares and then the tools that it told, by name',
    }),
    health: Type.Object(health),
    metrics: Type.Object(metrics),
  },
  { $id: 'ConnectionSummary' },
);

/** What of a server's lists did not come. */
export const flaws = Type.Array(
  Type.Object({
    list: Type.Enum([...listNames]),
    reason: Type.String({
      description:
        '`malformed`, `repeated`: so many are left out; `too_many`: the first are kept; else why the list could not be read, such as `server_error` or `timeout`',
    }),
    code: Type.Optional(Type.Integer({ description: 'of JSON-RPC, as the server said it' })),
    count: Type.Optional(Type.Integer()),
  }),
  { description: 'which lists of the server did not come, or not all of them' },
);

const offers = Type.Object({
  tools: Type.Integer(),
  prompts: Type.Integer(),
  resources: Type.Integer(),
  resourceTemplates: Type.Integer(),
  flaws: Type.Optional(flaws),
});

/** A connection as whoever asks for it alone sees it. */
export const connectionDetail = Type.Object(
  {
    ...summaryFields,
    capabilities: Type.Array(capability),
    health: Type.Object({
      ...health,
      checksPerformed: Type.Integer(),
      failedChecks: Type.Integer(),
      failuresInRow: Type.Integer(),
    }),
    metrics: Type.Object({
      ...metrics,
      totalRequests: Type.Integer(),
      successRate: Type.Number({ ...rate, description: 'of the requests, 0..1; 1 without any' }),
      p95Latency: Type.Number({ description: 'milliseconds, within 4 %' }),
      errorRate: Type.Number({
        ...rate,
        description:
          'of the requests, 0..1: failures of the server; what it refused, and what callers gave up, is neither success nor error',
      }),
    }),
    healthCheck: Type.Object({ enabled: Type.Boolean(), interval: Interval, timeout: Timeout }),
    ownerId: Type.String({ description: 'who registered it' }),
    server: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          version: Type.String(),
          title: Type.Optional(Type.String()),
          instructions: Type.Optional(Type.String()),
          protocolVersion: Type.String({ description: 'the revision of MCP that was agreed' }),
          era: Type.Enum(['modern', 'legacy']),
        },
        { description: 'who the server says it is' },
      ),
    ),
    offers: Type.Optional(offers),
    pins: Type.Optional(
      Type.Object(
        { tools: Texts, pinnedAt: Time },
        { description: 'digests of the tools that calls were agreed for' },
      ),
    ),
    quarantined: Type.Array(Type.String(), {
      description: 'tools that changed since they were pinned and are not called',
    }),
    approval: Type.Optional(
      Type.Object(
        {
          approved: Type.Boolean(),
          approvedBy: Type.Optional(Type.String()),
          approvedAt: Type.Optional(Time),
        },
        { description: 'of stdio: whether somebody with `registry:execute` agreed to the command' },
      ),
    ),
    disconnectedAt: Type.Optional(Time),
  },
  { $id: 'ConnectionDetail' },
);

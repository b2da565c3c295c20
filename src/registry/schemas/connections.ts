import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import {
  AnyObject,
  capability,
  connectionDetail,
  connectionSummary,
  ConnectionType,
  Interval,
  Protocol,
  registered,
  Status,
  Texts,
  Time,
  Timeout,
} from './connection-answers.ts';
import { AnyKey } from '../../kit/any-key.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';

const write = 'registry:write';

const Name = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^(?!.*__)[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?$',
  description:
    'letters, digits and, inside, any of `_ . -`, without two `_` in a row; unique among connections that are not disconnected',
});

const capabilities = Type.Array(
  Type.Union([Type.String({ minLength: 1, maxLength: 128 }), capability]),
  { maxItems: 500, description: 'names, or objects; what the server itself tells is added' },
);

const endpointRequest = Type.Object(
  {
    command: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
    args: Type.Optional(Type.Array(Type.String({ maxLength: 8_192 }), { maxItems: 100 })),
    env: Type.Optional(Texts),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
    headers: Type.Optional(Texts),
  },
  {
    additionalProperties: false,
    description:
      'for `stdio`: {command, args?, env?}; for `http` and `websocket`: {url, headers?}. In a change `***` leaves a value as it was.',
  },
);

const metadata = Type.Record(AnyKey, Type.Unknown(), { description: 'at most 16 KiB' });

const healthCheckRequest = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    interval: Type.Optional(Interval),
    timeout: Type.Optional(Timeout),
  },
  { description: 'enabled, every 30 s and with 5,000 ms unless told' },
);

const registration = Type.Object({
  name: Name,
  type: ConnectionType,
  protocol: Protocol,
  endpoint: Type.Optional(endpointRequest),
  capabilities: Type.Optional(capabilities),
  metadata: Type.Optional(metadata),
  healthCheck: Type.Optional(healthCheckRequest),
});

const connectionParams = Type.Object({
  connectionId: Type.String({ minLength: 1, maxLength: 128, description: '`con_…`' }),
});

/** Connections: registered, listed, changed, disconnected. */
export const connectionRoutes = {
  registerConnection: {
    method: 'POST',
    url: '/connections',
    summary: 'Register a connection to an MCP server, or a client',
    description:
      'Answers at once; whether the endpoint can be reached is what the first health check finds, which follows at once. A command of `stdio` runs only when the operator allows it and somebody with `registry:execute` registered or approved it. A client may leave `endpoint` out.',
    permission: write,
    schema: { body: registration, response: { 201: registered } },
  },
  listConnections: {
    method: 'GET',
    url: '/connections',
    summary: 'List connections in the order of their registration, disconnected ones last',
    schema: {
      query: Type.Object({
        status: Type.Optional({ ...Status, description: 'only connections that stand so' }),
        type: Type.Optional({ ...ConnectionType, description: 'only servers, or only clients' }),
        protocol: Type.Optional({ ...Protocol, description: 'only those that speak it' }),
        capability: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 128,
            description: 'only connections that have it',
          }),
        ),
        name: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 64,
            description: 'only the connections of this name',
          }),
        ),
        ...pageQuery({ max: 10_000, usual: 1_000 }),
      }),
      response: {
        200: Type.Object({
          connections: Type.Array(connectionSummary),
          ...pageAnswer,
          total: Type.Integer({ description: 'all connections' }),
          filtered: Type.Integer({ description: 'those that match' }),
        }),
      },
    },
  },
  getConnection: {
    method: 'GET',
    url: '/connections/:connectionId',
    summary: 'Read a connection',
    schema: { params: connectionParams, response: { 200: connectionDetail } },
  },
  updateConnection: {
    method: 'PATCH',
    url: '/connections/:connectionId',
    summary: 'Change a connection',
    description:
      '`metadata` are merged by key, null removes one. Another endpoint is checked at once, and what was learned of the one before is forgotten; another command, or other variables, need a new approval. A disconnected connection comes back with the status `active` or `idle`, when its name is free.',
    permission: write,
    schema: {
      params: connectionParams,
      body: Type.Object({
        status: Type.Optional(Type.Enum(['active', 'idle', 'disconnected'])),
        metadata: Type.Optional(metadata),
        healthCheck: Type.Optional(healthCheckRequest),
        name: Type.Optional(Name),
        endpoint: Type.Optional(endpointRequest),
        capabilities: Type.Optional(capabilities),
      }),
      response: { 200: connectionDetail },
    },
  },
  disconnectConnection: {
    method: 'DELETE',
    url: '/connections/:connectionId',
    summary: 'Disconnect a connection',
    description:
      'Its link or process is ended; the connection stays readable for thirty days. A second request has the same answer.',
    permission: write,
    schema: {
      params: connectionParams,
      response: {
        200: Type.Object({
          id: Type.String(),
          status: Type.Enum(['disconnected']),
          message: Type.String(),
          disconnectedAt: Time,
        }),
      },
    },
  },
  approveConnection: {
    method: 'POST',
    url: '/connections/:connectionId/approve',
    summary: 'Agree to the command of a stdio connection as it is now',
    description:
      'Whatever of `command`, `args` and `env` is given has to be what the connection has by now, with `***` where it shows that: else 409 `COMMAND_CHANGED`, and `changed` names what differs. A `command` or `args` without `env` says that there are no variables. Without any of them the command is agreed to as it stands. The operator’s allow-list still holds.',
    permission: 'registry:execute',
    schema: {
      params: connectionParams,
      body: Type.Object({
        command: Type.Optional(Type.String({ maxLength: 4_096 })),
        args: Type.Optional(Type.Array(Type.String({ maxLength: 8_192 }), { maxItems: 100 })),
        env: Type.Optional(Texts),
      }),
      response: { 200: connectionDetail },
    },
  },
  getConnectionHistory: {
    method: 'GET',
    url: '/connections/:connectionId/history',
    summary: 'List what happened to a connection, the newest first',
    description: 'Thirty days, and at most about 1,000 changes of a connection.',
    schema: {
      params: connectionParams,
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          connectionId: Type.String(),
          changes: Type.Array(
            Type.Object({
              timestamp: Time,
              change: Type.String({
                description:
                  '`registered`, `status`, `health`, `updated`, `endpoint`, `tools`, `accepted` (tools), `lists`, `approved` (a command) or `disconnected`',
              }),
              by: Type.Optional(
                Type.String({ description: 'whose request it was; absent: the registry’s own' }),
              ),
              reason: Type.Optional(Type.String()),
              before: Type.Optional(Type.String()),
              after: Type.Optional(Type.String()),
              detail: Type.Optional(AnyObject),
            }),
          ),
          ...pageAnswer,
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

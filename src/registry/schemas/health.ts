import { Type } from 'typebox';
import { healthRoute, type Route } from '../../kit/contract.ts';
import { metricsRoute } from '../../kit/metrics.ts';
import { flaws } from './connection-answers.ts';
import { AnyKey } from '../../kit/any-key.ts';

const ConnectionId = Type.String({ minLength: 1, maxLength: 128, description: '`con_…`' });
const Milliseconds = Type.Number({ description: 'milliseconds' });
const HealthStatus = Type.String({
  description:
    '`healthy`; `degraded`: slow, or failed once or twice in a row; `error`: failed three times in a row, or was refused; `initializing`: never asked',
});
const Reason = Type.String({
  description:
    'why it is not `healthy`: `slow`, `unreachable`, `timeout`, `not_mcp`, `command_not_allowed`, `approval_required`, `authorization_required`, `insufficient_scope`, `egress_blocked`, `process_exited`, `restarting_too_often` and such',
});

const checked = Type.Object({
  status: HealthStatus,
  responseTime: Milliseconds,
  timestamp: Type.String({ format: 'date-time' }),
  reason: Type.Optional(Reason),
  message: Type.Optional(Type.String({ description: 'the reason as a sentence' })),
});

const diagnostics = Type.Object({
  processRunning: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'null for a server that is no process of this host',
  }),
  memoryUsage: Type.Union([Type.String(), Type.Null()], {
    description: 'of the process and its descendants, such as `107 MB`',
  }),
  cpuUsage: Type.Union([Type.String(), Type.Null()], { description: 'of one core: `1.5%`' }),
  activeRequests: Type.Integer({ description: 'calls through this registry that run now' }),
  memoryBytes: Type.Optional(Type.Number()),
  cpuPercent: Type.Optional(Type.Number()),
  pid: Type.Optional(Type.Integer()),
  processes: Type.Optional(Type.Integer()),
  startedAt: Type.Optional(Type.String()),
  sandbox: Type.Optional(Type.String({ description: '`none` says so where nothing is done' })),
  limits: Type.Optional(Type.Record(AnyKey, Type.Number())),
  stderrTail: Type.Optional(
    Type.String({ description: 'the end of what the process wrote to standard error' }),
  ),
  stdoutTail: Type.Optional(
    Type.String({ description: 'the end of what of its standard output is no MCP' }),
  ),
  lastEnd: Type.Optional(Type.String({ description: 'how the last process ended' })),
  linkOpen: Type.Boolean({ description: 'a link to the server is open' }),
  sessionEra: Type.Optional(
    Type.String({ description: '`modern`: no session; `legacy`: begins with `initialize`' }),
  ),
  protocolVersion: Type.Optional(Type.String({ description: 'the revision of MCP agreed on' })),
  flaws: Type.Optional(flaws),
});

const checkPermission = ['registry:write', 'registry:call', 'agent:execute'] as const;

/** Checks that are asked for, and what the registry tells of itself. */
export const healthRoutes = {
  checkHealth: {
    method: 'POST',
    url: '/connections/:connectionId/health-check',
    summary: 'Check a connection now, by a real exchange',
    description:
      'Answers 200 for every known connection, also when its server is down: `health` tells. Takes no longer than `healthCheck.timeout`.',
    permission: checkPermission,
    schema: {
      params: Type.Object({ connectionId: ConnectionId }),
      response: {
        200: Type.Object({ connectionId: Type.String(), health: checked, diagnostics }),
      },
    },
  },
  checkHealths: {
    method: 'POST',
    url: '/connections/health-check/batch',
    summary: 'Check many connections now',
    permission: checkPermission,
    schema: {
      body: Type.Object({
        connectionIds: Type.Array(ConnectionId, { maxItems: 1_000 }),
        timeout: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 120_000,
            description:
              'milliseconds that the whole answer may take, 30,000 unless told. Given, each check may take as long where the connection’s own timeout is shorter; a shorter time than that counts for nothing: the check ends by the own timeout.',
          }),
        ),
      }),
      response: {
        200: Type.Object({
          results: Type.Array(
            Type.Object({
              connectionId: Type.String(),
              status: HealthStatus,
              responseTime: Type.Optional(Milliseconds),
              error: Type.Optional(Type.String({ description: 'why there was no answer' })),
            }),
            { description: 'in the order of `connectionIds`' },
          ),
          summary: Type.Object({
            total: Type.Integer(),
            healthy: Type.Integer({ description: 'answered' }),
            unhealthy: Type.Integer({ description: 'did not answer, or are not known' }),
          }),
        }),
      },
    },
  },
  metrics: metricsRoute('/metrics'),
  health: healthRoute('/health', {
    registry: Type.Object({
      connections: Type.Integer({ description: 'that are not disconnected' }),
      healthy: Type.Integer({ description: 'answered when they were last asked' }),
      unhealthy: Type.Integer({ description: 'did not' }),
    }),
    performance: Type.Object({
      requestsPerSecond: Type.Number({
        description: 'calls of servers a second, over the last minute',
      }),
      averageLatency: Type.Number({ description: 'milliseconds of a call' }),
    }),
  }),
} as const satisfies Readonly<Record<string, Route>>;

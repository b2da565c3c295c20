import { Type, type Static } from 'typebox';
import { healthRoute, type Route } from '../../kit/contract.ts';
import { metricsRoute } from '../../kit/metrics.ts';
import { AnyKey } from '../../kit/any-key.ts';

const ProviderHealth = Type.Object({
  status: Type.Union([Type.Literal('healthy'), Type.Literal('degraded')]),
  models: Type.Optional(Type.Integer({ description: 'of the local runtime' })),
  latency: Type.Optional(
    Type.Number({ description: 'milliseconds, of the answers of late, else of a probe' }),
  ),
  availability: Type.Number({ description: 'of the last five minutes, 0..1' }),
  error: Type.Optional(Type.String({ description: 'what failed last' })),
});
export type ProviderHealth = Static<typeof ProviderHealth>;

/** What tells how the gateway and its providers do. */
export const healthRoutes = {
  health: healthRoute('/api/health', {
    providers: Type.Record(AnyKey, ProviderHealth),
    cache: Type.Object({
      hitRate: Type.Number({ description: 'since the start, 0..1' }),
      size: Type.String({ description: 'in memory, such as `12.3 MB`' }),
      entries: Type.Integer({ description: 'in memory' }),
      semanticThreshold: Type.Optional(
        Type.Number({ description: 'how alike questions must be; absent: only identical ones' }),
      ),
    }),
  }),
  metrics: metricsRoute('/api/v1/metrics'),
} as const satisfies Readonly<Record<string, Route>>;

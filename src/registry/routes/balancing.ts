import type { Handler } from '../../kit/http/call.ts';
import { WrittenAsciiJson } from '../../kit/answers/written-json.ts';
import type { Discovery } from '../balancing/discovery.ts';
import type { LoadReporter } from '../balancing/load-report.ts';
import type { Statistics } from '../balancing/statistics.ts';
import type { balancingRoutes } from '../schemas/balancing.ts';

type Routes = typeof balancingRoutes;

export interface BalancingRouteParts {
  readonly discovery: Pick<Discovery, 'discover'>;
  readonly statistics: Pick<Statistics, 'read' | 'capabilities'>;
  readonly loads: Pick<LoadReporter, 'report'>;
}

const balancedDefault = 100;

/** The edge of discovery and of everything counted. */
export function balancingHandlers({ discovery, statistics, loads }: BalancingRouteParts): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  return {
    discoverConnections: ({ body, identity }) => {
      const { capabilities = [], filters = {}, loadBalancing } = body;
      if (!loadBalancing)
        return new WrittenAsciiJson(discovery.discover({ capabilities, filters }));
      const { strategy: named, maxConnections = balancedDefault, key } = loadBalancing;
      const strategy = named === 'p2c' ? 'power-of-two' : named;
      const balancing = { strategy, key: key ?? identity.subject, limit: maxConnections };
      return new WrittenAsciiJson(discovery.discover({ capabilities, filters, balancing }));
    },
    listCapabilities: ({ query }) => {
      const { prefix, q, limit, offset } = query;
      const found = statistics.capabilities({ prefix, q, limit, offset });
      return { ...found, capabilities: [...found.capabilities] };
    },
    readStatistics: () => {
      const { capabilities, ...rest } = statistics.read();
      return { ...rest, capabilities: { ...capabilities, mostUsed: [...capabilities.mostUsed] } };
    },
    readLoadDistribution: ({ query }) => {
      const { strategy, connections, recommendations } = loads.report(query.limit);
      return {
        strategy,
        connections: [...connections],
        recommendations: recommendations.map((one) => ({
          ...one,
          capabilities: [...one.capabilities],
        })),
      };
    },
  };
}

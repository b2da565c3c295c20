import type { Handlers } from '../../kit/http/call.ts';
import type { gatewayContract } from '../contract.ts';
import { describeHealth } from '../measure/health.ts';
import type { GatewayParts } from '../parts.ts';

type HealthHandlers = Pick<Handlers<typeof gatewayContract>, 'health' | 'metrics'>;

/** The routes that tell how the gateway and its providers do. */
export function healthHandlers(parts: GatewayParts): HealthHandlers {
  const { host, providers, stations, probeOf, cache, metrics } = parts;
  return {
    health: () => {
      const described = providers.all().map((provider) => {
        const probe = probeOf(provider);
        return [provider.name, describeHealth(provider, { standings: stations, probe })] as const;
      });
      const isHealthy = described.some(([, { status }]) => status === 'healthy');
      return {
        ...host.health(),
        status: isHealthy ? 'healthy' : 'degraded',
        providers: Object.fromEntries(described),
        cache: cache.stats(),
      };
    },
    metrics: () => metrics.answer(),
  };
}

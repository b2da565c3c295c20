import { useQuery } from '@tanstack/react-query';
import { useAnswer } from '../../api/answers.ts';
import { requestOf } from '../../api/call.ts';
import type { Answer } from '../../api/contracts.ts';
import { send } from '../../api/send.ts';
import { readOpenCircuits, type OpenCircuit } from './circuits.ts';

export const refreshMs = 5_000;

type Provider = Answer<'gateway', 'GET /api/v1/providers'>['providers'][number];
type Health = Answer<'gateway', 'GET /api/health'>['providers'][string];

/** A provider and how it does, as it was measured. */
export interface ProviderState extends Provider {
  readonly health: Health | undefined;
  /** Models that are not asked now; absent where the gateway's metrics are not for us. */
  readonly openCircuits: readonly OpenCircuit[] | undefined;
}

/** How providers do, asked for again and again. */
export function useProviderStates(): (provider: Provider) => ProviderState {
  const health = useAnswer('gateway', 'GET /api/health', { everyMs: refreshMs });
  const circuits = useQuery({
    queryKey: ['gateway', 'circuits'],
    queryFn: readCircuits,
    refetchInterval: refreshMs,
  });
  return (provider) => ({
    ...provider,
    health: health.data?.providers[provider.name],
    openCircuits: circuits.data?.filter((circuit) => circuit.provider === provider.name),
  });
}

async function readCircuits(): Promise<readonly OpenCircuit[]> {
  const response = await send(requestOf('gateway', 'GET /api/v1/metrics', {}));
  return readOpenCircuits(await response.text());
}

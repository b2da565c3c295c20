import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ServiceState } from '../../src/console/contract.ts';
import { send } from '../api/send.ts';

const refreshMs = 5_000;

/** How all nine services are, asked again every five seconds. */
export function useServiceStates(): UseQueryResult<readonly ServiceState[]> {
  return useQuery({ queryKey: ['status'], queryFn: readStates, refetchInterval: refreshMs });
}

async function readStates(): Promise<readonly ServiceState[]> {
  const response = await send(new Request('/status.json'));
  // The console's own answer.
  return ((await response.json()) as { services: readonly ServiceState[] }).services;
}

import {
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { call } from './call.ts';
import type { Answer, InputOf, Operation, ServiceName } from './contracts.ts';

export interface AnswerOptions {
  /** Asks again so often. */
  readonly everyMs?: number;
  readonly isEnabled?: boolean;
}

/** An operation's answer, kept for all who ask the same. */
export function useAnswer<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  { everyMs, isEnabled = true, ...input }: InputOf<S, O> & AnswerOptions = {},
): UseQueryResult<Answer<S, O>> {
  return useQuery({
    queryKey: [service, operation, input],
    queryFn: () => call(service, operation, input as InputOf<S, O>),
    enabled: isEnabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

/** An operation that changes something; everything known of the service is asked anew after it. */
export function useChange<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
): UseMutationResult<Answer<S, O>, Error, InputOf<S, O>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: InputOf<S, O>) => call(service, operation, input),
    // Not awaited: who changed it goes on at once, and may leave a page about what is gone.
    onSettled: () => void client.invalidateQueries({ queryKey: [service] }),
  });
}

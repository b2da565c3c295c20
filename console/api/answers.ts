import {
  hashKey,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { call, type CallOptions } from './call.ts';
import type { Answer, InputOf, Operation, ServiceName } from './contracts.ts';

export interface AnswerOptions {
  /** Asks again so often. */
  readonly everyMs?: number;
  readonly isEnabled?: boolean;
}

/**
 * An operation's answer, kept for all who ask the same. While another page of the same, or the same filtered
 * otherwise, is on its way, what was there stays.
 */
export function useAnswer<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  { everyMs, isEnabled = true, ...input }: InputOf<S, O> & AnswerOptions = {},
): UseQueryResult<Answer<S, O>> {
  const subject = [service, operation, input.params ?? {}];
  return useQuery({
    queryKey: [...subject, input],
    queryFn: () => call(service, operation, input as InputOf<S, O>),
    enabled: isEnabled,
    placeholderData: (known: Answer<S, O> | undefined, query) =>
      hashKey(query?.queryKey.slice(0, subject.length) ?? []) === hashKey(subject)
        ? known
        : undefined,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });
}

export interface ChangeOptions<T> {
  /**
   * Told before anything is asked anew, also when the component is gone by then: leaves a page whose subject
   * is gone.
   */
  readonly onDone?: (answer: T) => void;
}

/** What a change is made with, or what makes that: where it cannot, the change fails with why. */
export type ChangeInput<S extends ServiceName, O extends Operation<S>> =
  | Given<S, O>
  | (() => Given<S, O> | Promise<Given<S, O>>);

type Given<S extends ServiceName, O extends Operation<S>> = InputOf<S, O> &
  Pick<CallOptions, 'headers'>;

/** An operation that changes something; everything known of the service is asked anew after it. */
export function useChange<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  { onDone }: ChangeOptions<Answer<S, O>> = {},
): UseMutationResult<Answer<S, O>, Error, ChangeInput<S, O>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: ChangeInput<S, O>) =>
      call(service, operation, typeof input === 'function' ? await input() : input),
    onSuccess: (answer) => onDone?.(answer),
    // Not awaited: who changed it goes on at once.
    onSettled: () => void client.invalidateQueries({ queryKey: [service] }),
  });
}

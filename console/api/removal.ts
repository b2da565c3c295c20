import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import type { ServiceName } from './contracts.ts';

export interface RemovalOptions {
  readonly service: ServiceName;
  readonly remove: () => Promise<unknown>;
  /** Leaves the page. */
  readonly onRemoved: () => void;
}

/** Removes what a page is about. The page is left first, so that nothing asks anew for what is gone. */
export function useRemoval(options: RemovalOptions): UseMutationResult<unknown, Error, void> {
  const { service, remove, onRemoved } = options;
  const client = useQueryClient();
  return useMutation({
    mutationFn: remove,
    onSuccess: onRemoved,
    onSettled: () => client.invalidateQueries({ queryKey: [service] }),
  });
}

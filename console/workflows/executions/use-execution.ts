import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../../api/call.ts';
import { applyEvent, type Execution } from '../flow/runs.ts';
import { follow } from './follow.ts';

/** After events before the status is read, which tells more than they do. */
const pauseMs = 300;

export interface FollowedExecution {
  /** As it was last heard of; undefined until it was read. */
  readonly execution: Execution | undefined;
  /** Why it could not be read at all. */
  readonly error: Error | null;
  /** Whether nothing is heard of it although it runs, as when the suite is down. */
  readonly isCut: boolean;
  readonly retry: () => void;
}

/** An execution as it happens. */
export function useExecution(executionId: string): FollowedExecution {
  const client = useQueryClient();
  const [isLive, setIsLive] = useState(true);
  const { data, error, refetch } = useQuery({
    queryKey: keyOf(executionId),
    queryFn: () => readExecution(executionId),
  });
  const isRunning = data?.status === 'running';
  useEffect(() => {
    if (!isRunning) return undefined;
    const queryKey = keyOf(executionId);
    const queryFn = () => readExecution(executionId);
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey });
        void client.invalidateQueries({ queryKey: ['workflow', nodesOperation] });
      }, pauseMs);
    };
    void follow(executionId, {
      signal: abort.signal,
      read: async () => {
        const { status } = await client.fetchQuery({ queryKey, queryFn, staleTime: 0 });
        return status === 'running';
      },
      onEvents: (events) => {
        client.setQueryData<Execution>(
          queryKey,
          (before) => before && events.reduce(applyEvent, before),
        );
        readSoon();
      },
      onLive: setIsLive,
    });
    return () => {
      abort.abort();
      clearTimeout(timer);
      void client.invalidateQueries({ queryKey: ['workflow', nodesOperation] });
    };
  }, [client, executionId, isRunning]);
  return {
    execution: data,
    error: data ? null : error,
    isCut: isRunning && !isLive,
    retry: () => void refetch(),
  };
}

/** The operation that tells the runs of nodes one by one. */
export const nodesOperation = 'GET /api/v1/executions/:executionId/nodes';

function keyOf(executionId: string): readonly string[] {
  return ['workflow', 'execution', executionId];
}

async function readExecution(executionId: string): Promise<Execution> {
  const params = { executionId };
  return await call('workflow', 'GET /api/v1/executions/:executionId', { params });
}

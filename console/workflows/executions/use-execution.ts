import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Batch } from '../../api/batch.ts';
import { call } from '../../api/call.ts';
import { applyEvent, type Execution, type ExecutionEvent } from '../flow/runs.ts';
import { followExecution } from './follow.ts';

/** After events before the status is read, which tells more than they do. */
const pauseMs = 300;

export interface FollowedExecution {
  /** As it was last heard of. */
  readonly execution: Pick<UseQueryResult<Execution>, 'data' | 'error' | 'refetch'>;
  /** Whether nothing is heard of it although it runs, as when the suite is down. */
  readonly isCut: boolean;
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
    const readNodes = () => client.invalidateQueries({ queryKey: ['workflow', nodesOperation] });
    const read = () => client.invalidateQueries({ queryKey });
    const news = new Batch<ExecutionEvent>(pauseMs, () => {
      void read();
      void readNodes();
    });
    const stop = followExecution({
      executionId,
      read,
      onEvents: (events) => {
        client.setQueryData<Execution>(
          queryKey,
          (before) => before && events.reduce(applyEvent, before),
        );
        for (const event of events) news.add(event);
      },
      onLive: setIsLive,
    });
    return () => {
      stop();
      news[Symbol.dispose]();
      void readNodes();
    };
  }, [client, executionId, isRunning]);
  // That it is cut off tells more than the last failure to read it.
  const execution = { data, error: data ? null : error, refetch };
  return { execution, isCut: isRunning && !isLive };
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

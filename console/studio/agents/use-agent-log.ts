import { useEffect, useState } from 'react';
import { readEvents } from '../../api/events.ts';
import { Refusal } from '../../api/refusal.ts';
import type { LogLine } from '../answers.ts';

export interface AgentLogState {
  readonly lines: readonly LogLine[];
  /** `ended`: there comes no more of it, as the agent has ended. */
  readonly state: 'live' | 'connecting' | 'ended';
  readonly error: Error | undefined;
}

/** As many lines as the studio keeps. */
const linesMax = 10_000;
const restMs = 2_000;

/**
 * The newest lines of an agent's log, or all that are kept, and those that come, over breaks too. Whoever
 * asks for another log is another component.
 */
export function useAgentLog(id: string, isWhole: boolean): AgentLogState {
  const [log, setLog] = useState<AgentLogState>(nothing);
  useEffect(() => {
    const ending = new AbortController();
    const first = isWhole ? 0 : undefined;
    void follow({ id, after: first, signal: ending.signal, update: setLog });
    return () => ending.abort();
  }, [id, isWhole]);
  return log;
}

const nothing: AgentLogState = { lines: [], state: 'connecting', error: undefined };

interface Follower {
  readonly id: string;
  /** The line to go on behind; the newest thousand when undefined. */
  readonly after: number | undefined;
  readonly signal: AbortSignal;
  readonly update: (change: (log: AgentLogState) => AgentLogState) => void;
}

async function follow({ id, after, signal, update }: Follower): Promise<void> {
  let last = after;
  while (!signal.aborted) {
    try {
      const events = readEvents('studio', 'GET /api/v1/agents/:id/logs', {
        params: { id },
        query: { follow: true, limit: 1_000, ...(last === undefined ? {} : { after: last }) },
        signal,
      });
      update((log) => ({ ...log, state: 'live', error: undefined }));
      for await (const { data } of events) {
        const line = readLine(data);
        if (!line) continue;
        last = line.seq;
        update((log) => ({ ...log, lines: [...log.lines, line].slice(-linesMax) }));
      }
      update((log) => ({ ...log, state: 'ended' }));
      return;
    } catch (error) {
      if (signal.aborted) return;
      update((log) => ({ ...log, state: 'connecting', error: error as Error }));
      if (isFinal(error)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof Refusal && error.status >= 400 && error.status < 500;
}

function readLine(data: string): LogLine | undefined {
  if (data === '') return undefined;
  // The studio writes lines by its contract.
  const line = JSON.parse(data) as LogLine;
  return typeof line.seq === 'number' ? line : undefined;
}

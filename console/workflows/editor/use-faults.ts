import { useEffect, useState } from 'react';
import type { Flow, FlowFault } from '../flow/flow.ts';
import { findFaults } from './stored-workflow.ts';

/** After the last change before faults that are shown are looked for again. */
const pauseMs = 600;

export interface Faults {
  /** Undefined until they were looked for. */
  readonly found: readonly FlowFault[] | undefined;
  readonly error: Error | undefined;
  readonly check: () => Promise<readonly FlowFault[]>;
}

/** What is wrong with a flow once that is asked, and from then on after each change. */
export function useFaults(flow: Flow): Faults {
  const [found, setFound] = useState<readonly FlowFault[]>();
  const [error, setError] = useState<Error>();
  const isWatching = found !== undefined;
  useEffect(() => {
    if (!isWatching) return undefined;
    let isCurrent = true;
    const look = async () => {
      const faults = await findFaults(flow).catch(() => undefined);
      if (isCurrent && faults) setFound(faults);
    };
    const timer = setTimeout(() => void look(), pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [flow, isWatching]);
  const check = async () => {
    setError(undefined);
    try {
      const faults = await findFaults(flow);
      setFound(faults);
      return faults;
    } catch (caught) {
      setError(caught as Error);
      throw caught;
    }
  };
  return { found, error, check };
}

import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { call } from '../../api/call.ts';
import { formatDuration } from '../../ui/text.ts';
import { tracesOfTurn, windowAround, type TraceSummary } from './turn-traces.ts';

type Outcome = readonly TraceSummary[] | Error | 'looking';

/** Opens the trace of a turn; where several began with it, all are offered. */
export function AnswerTrace({ startedAt }: { readonly startedAt: string }): ReactNode {
  const [outcome, setOutcome] = useState<Outcome>();
  const [, navigate] = useLocation();
  const look = async () => {
    setOutcome('looking');
    const traces = await find(startedAt);
    const [only] = traces instanceof Error || traces.length !== 1 ? [] : traces;
    if (only) navigate(`~/traces/${only.traceId}`);
    else setOutcome(traces);
  };
  if (outcome instanceof Error) return <span role="alert">{outcome.message}</span>;
  if (outcome === undefined || outcome === 'looking') {
    return (
      <button
        type="button"
        className="quiet"
        disabled={outcome === 'looking'}
        onClick={() => void look()}
      >
        Trace
      </button>
    );
  }
  if (outcome.length === 0) return <span className="faint">no trace of it is kept</span>;
  return outcome.map(({ traceId, duration }) => (
    <Link key={traceId} href={`~/traces/${traceId}`}>
      Trace of {formatDuration(duration)}
    </Link>
  ));
}

async function find(startedAt: string): Promise<readonly TraceSummary[] | Error> {
  try {
    const query = { service: 'chat', limit: 100, ...windowAround(startedAt) };
    const { traces } = await call('tracer', 'GET /api/v1/traces', { query });
    return tracesOfTurn(traces, startedAt);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

import { useEffect, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../api/answers.ts';
import { formatCount, formatDollars } from '../ui/text.ts';
import { useServiceStates } from './states.ts';

const refreshMs = 10_000;

/** What goes on now and what was spent today, each figure a way to its area. */
export function Today(): ReactNode {
  const day = useDay();
  const every = { everyMs: refreshMs };
  const states = useServiceStates().data;
  const spend = useAnswer('gateway', 'GET /api/v1/spend', {
    query: { from: day, to: day },
    ...every,
  });
  const agents = useAnswer('mesh', 'GET /api/v1/agents', {
    query: { status: 'active', limit: 1 },
    ...every,
  });
  const running = useAnswer('workflow', 'GET /api/v1/executions', {
    query: { status: 'running', limit: 1 },
    ...every,
  });
  const failed = useAnswer('tracer', 'GET /api/v1/traces', {
    query: { status: 'error', startTime: `${day}T00:00:00Z`, limit: 1 },
    ...every,
  });
  const { requests, inputTokens = 0, outputTokens = 0, dollars } = spend.data?.totals ?? {};
  const healthy = states?.filter(({ status }) => status === 'healthy').length;
  return (
    <div className="cards today">
      <Figure
        title="services healthy"
        href="/"
        value={states && `${healthy} of ${states.length}`}
      />
      <Figure title="model requests today" href="/models" value={count(requests)} />
      <Figure
        title="tokens today"
        href="/models"
        value={count(spend.data && inputTokens + outputTokens)}
      />
      <Figure
        title="spent today"
        href="/models"
        value={dollars === undefined ? undefined : formatDollars(dollars)}
      />
      <Figure title="workflows running" href="/workflows" value={count(running.data?.total)} />
      <Figure title="agents active" href="/agents" value={count(agents.data?.total)} />
      <Figure
        title="traces with errors today"
        href="/traces?status=error"
        value={count(failed.data?.total)}
      />
    </div>
  );
}

const minuteMs = 60_000;

/** The day in UTC, as the gateway counts days; another one after midnight. */
function useDay(): string {
  const [day, setDay] = useState(readDay);
  useEffect(() => {
    const timer = setInterval(() => setDay(readDay()), minuteMs);
    return () => clearInterval(timer);
  }, []);
  return day;
}

function readDay(): string {
  return new Date().toISOString().slice(0, 10);
}

function count(value: number | undefined): string | undefined {
  return value === undefined ? undefined : formatCount(value);
}

interface FigureProps {
  readonly title: string;
  readonly href: string;
  /** Undefined while it is not known. */
  readonly value: string | undefined;
}

function Figure({ title, href, value = '–' }: FigureProps): ReactNode {
  return (
    <Link href={href} className="card figure-card">
      <strong>{value}</strong>
      <span className="faint">{title}</span>
    </Link>
  );
}

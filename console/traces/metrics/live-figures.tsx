import type { ReactNode } from 'react';
import { Answered } from '../../ui/answered.tsx';
import { formatCount, formatDuration } from '../../ui/text.ts';
import { formatShare } from '../parts/durations.ts';
import { useReading } from '../parts/reading.ts';

const refreshMs = 5_000;

/** What the last minute was like. */
export function LiveFigures(): ReactNode {
  const live = useReading('GET /api/v1/metrics/live', { everyMs: refreshMs });
  return (
    <Answered query={live}>
      {({ metrics, topAgents }) => (
        <section className="cards" aria-label="The last minute">
          <Figure title="Traces a second" value={metrics.requestsPerSecond.toFixed(2)} />
          <Figure title="Average duration" value={formatDuration(metrics.averageLatency)} />
          <Figure title="Error rate" value={formatShare(metrics.errorRate)} />
          <Figure title="Open traces" value={formatCount(metrics.activeTraces)} />
          <Figure
            title="Busiest agents"
            value={
              topAgents
                .slice(0, 3)
                .map(({ agentId }) => agentId)
                .join(', ') || '–'
            }
          />
        </section>
      )}
    </Answered>
  );
}

function Figure({ title, value }: { readonly title: string; readonly value: string }): ReactNode {
  return (
    <div className="card figure-card live-figure">
      <span className="faint">{title}, last minute</span>
      <strong>{value}</strong>
    </div>
  );
}

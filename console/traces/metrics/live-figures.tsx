import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { formatCount, formatDuration, formatShare } from '../../ui/text.ts';
import { formatRate } from '../parts/durations.ts';

const refreshMs = 5_000;

/** What the last minute was like. */
export function LiveFigures(): ReactNode {
  const live = useAnswer('tracer', 'GET /api/v1/metrics/live', { everyMs: refreshMs });
  return (
    <Answered query={live}>
      {({ metrics, topAgents }) => (
        <section className="card live-figures" aria-label="The last minute">
          <h2>The last minute</h2>
          <Figure title="Traces" value={formatRate(metrics.requestsPerSecond)} />
          <Figure title="Average duration" value={formatDuration(metrics.averageLatency)} />
          <Figure title="Error rate" value={formatShare(metrics.errorRate)} />
          <Figure title="Open now" value={formatCount(metrics.activeTraces)} />
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
    <div>
      <span className="faint">{title}</span>
      <strong>{value}</strong>
    </div>
  );
}

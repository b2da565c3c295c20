import type { ReactNode } from 'react';
import type { Answer } from '../api/contracts.ts';
import { Badge } from '../ui/badge.tsx';
import { formatDuration, formatShare } from '../ui/text.ts';

type Recommendation = Answer<
  'registry',
  'GET /load-balancing/distribution'
>['recommendations'][number];

const tones = { 'scale-up': 'warning', 'scale-down': 'neutral', investigate: 'bad' } as const;

/** What the registry makes of the load, with what it goes by. */
export function Recommendations({
  recommendations,
}: {
  readonly recommendations: readonly Recommendation[];
}): ReactNode {
  if (recommendations.length === 0) {
    return <p className="faint flat">None: nobody has too much or too little to do.</p>;
  }
  return (
    <ul className="plain">
      {recommendations.map((recommendation) => (
        <li key={`${recommendation.action} ${recommendation.capability}`} className="card">
          <Advice {...recommendation} />
        </li>
      ))}
    </ul>
  );
}

function Advice(recommendation: Recommendation): ReactNode {
  const { action, reason, suggestedConnections, capability, capabilities, evidence } =
    recommendation;
  return (
    <>
      <div className="row">
        <Badge state={action} tone={tones[action]} />
        <strong>{capability}</strong>
        {capabilities.length > 0 ? (
          <span className="faint">and {capabilities.join(', ')}</span>
        ) : null}
      </div>
      <p className="flat">{reason}</p>
      <p className="faint flat">
        {action === 'investigate' ? '' : `${suggestedConnections} connections; `}
        {evidence.working} of {evidence.providers} work, {evidence.activeRequests} calls run of{' '}
        {evidence.capacity} at once, {evidence.queued} wait, {evidence.requestsPerMinute} a minute,
        95 % within {formatDuration(evidence.p95Latency)} (usually{' '}
        {formatDuration(evidence.usualP95Latency)}), {formatShare(evidence.errorRate)} fail
      </p>
    </>
  );
}

import type { ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Facts } from '../../ui/facts.tsx';
import { formatAge, formatSeconds } from '../../ui/text.ts';

const refreshMs = 5_000;

/** What an agent takes and has to do, measured now. */
export function AgentHealth({ id }: { readonly id: string }): ReactNode {
  const health = useAnswer('studio', 'GET /api/v1/agents/:id/health', {
    params: { id },
    everyMs: refreshMs,
  });
  return (
    <section className="card" aria-label="Health of the agent">
      <h2>Health</h2>
      <Answered query={health}>
        {({ uptime, metrics, lastHeartbeat }) => (
          <Facts
            facts={[
              ['Up', formatSeconds(uptime)],
              ['Processor', metrics.cpu],
              ['Memory', metrics.memory],
              ['Tasks', `${metrics.tasks.running} running, ${metrics.tasks.queued} queued`],
              ['Heartbeat', lastHeartbeat ? formatAge(lastHeartbeat) : 'none yet'],
            ]}
          />
        )}
      </Answered>
    </section>
  );
}

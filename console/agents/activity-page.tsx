import { useState, type ReactNode } from 'react';
import { namesIn } from '../ui/entry-text.ts';
import { LiveBadge } from '../ui/live-badge.tsx';
import { Page } from '../ui/page.tsx';
import { useSettled } from '../ui/use-settled.ts';
import { AgentsNav } from './agents-nav.tsx';
import { activityTypes, type LogLine } from './activity-log.ts';
import { ActivityTable } from './activity-table.tsx';
import { useActivity } from './use-activity.ts';

/** What happens on the mesh, as it happens. */
export function ActivityPage(): ReactNode {
  const [agents, setAgents] = useState('');
  const [type, setType] = useState('');
  const [held, setHeld] = useState<readonly LogLine[]>();
  const { lines, state, refusal } = useActivity({
    agentIds: namesIn(useSettled(agents)),
    eventTypes: type === '' ? [] : [type],
  });
  const narrow = (change: () => void) => {
    change();
    setHeld(undefined);
  };
  const waitingCount = held ? lines.length - held.length : 0;
  return (
    <Page
      title="Agents"
      actions={
        <>
          <LiveBadge state={state} />
          <input
            aria-label="Agents"
            placeholder="Agents, between commas"
            value={agents}
            onChange={({ target }) => narrow(() => setAgents(target.value))}
          />
          <TypeFilter value={type} onChange={(next) => narrow(() => setType(next))} />
          <button type="button" onClick={() => setHeld(held ? undefined : lines)}>
            {held ? `Go on (${waitingCount} new)` : 'Pause'}
          </button>
        </>
      }
    >
      <AgentsNav />
      <ActivityTable
        lines={held ?? lines}
        state={state}
        refusal={refusal}
        emptyText="Register an agent or run a task, and it stands here at once."
      />
    </Page>
  );
}

function TypeFilter({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (type: string) => void;
}): ReactNode {
  return (
    <select aria-label="What" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">all that happens</option>
      {activityTypes.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

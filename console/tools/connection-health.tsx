import type { ReactNode } from 'react';
import { useChange } from '../api/answers.ts';
import type { Answer } from '../api/contracts.ts';
import { Permitted } from '../session/permitted.tsx';
import { Facts } from '../ui/facts.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Problem } from '../ui/problem.tsx';
import { formatAge, formatDuration, formatSeconds } from '../ui/text.ts';
import type { Connection } from './answers.ts';
import { ConnectionState, Health } from './connection-state.tsx';

type Check = Answer<'registry', 'POST /connections/:connectionId/health-check'>;

/** How a server does, and what a check that is made now finds. */
export function ConnectionHealth({ connection }: { readonly connection: Connection }): ReactNode {
  const check = useChange('registry', 'POST /connections/:connectionId/health-check');
  return (
    <section className="card stack">
      <h2>Health</h2>
      <Known connection={connection} />
      <div>
        <Permitted needs={['registry:write', 'registry:call', 'agent:execute']}>
          <button
            type="button"
            disabled={check.isPending}
            onClick={() => check.mutate({ params: { connectionId: connection.id } })}
          >
            {check.isPending ? 'Checking …' : 'Check now'}
          </button>
        </Permitted>
      </div>
      {check.error ? <Problem error={check.error} /> : null}
      {check.data ? <Found {...check.data} /> : null}
    </section>
  );
}

function Known({ connection }: { readonly connection: Connection }): ReactNode {
  const { status, health } = connection;
  return (
    <Facts
      facts={[
        ['Status', <ConnectionState key="status" status={status} />],
        ['Health', <Health key="health" status={health.status} reason={health.reason} />],
        ['Last check', health.lastCheck ? formatAge(health.lastCheck) : 'none yet'],
        ['Well for', health.uptime > 0 && formatSeconds(health.uptime)],
        [
          'Checks',
          `${health.checksPerformed}, of which ${health.failedChecks} failed` +
            (health.failuresInRow > 0 ? `, the last ${health.failuresInRow} in a row` : ''),
        ],
        ['Checked', rhythmOf(connection)],
      ]}
    />
  );
}

/** A process that nobody calls is not started for a check. */
function rhythmOf({ protocol, status, healthCheck }: Connection): string {
  if (!healthCheck.enabled) return 'only when asked';
  const rhythm = `every ${healthCheck.interval} s, within ${formatDuration(healthCheck.timeout)}`;
  return protocol === 'stdio' && status === 'idle' ? `${rhythm}, once it is called again` : rhythm;
}

function Found({ health, diagnostics }: Check): ReactNode {
  const { processRunning, memoryUsage, cpuUsage, pid, processes, startedAt, sandbox } = diagnostics;
  return (
    <section className="stack" aria-label="What the check found" aria-live="polite">
      {health.message ? (
        <div className="problem">
          <span>
            {health.message} ({health.reason})
          </span>
        </div>
      ) : null}
      <Facts
        facts={[
          ['Answered', `${health.status} in ${formatDuration(health.responseTime)}`],
          ['Link', diagnostics.linkOpen ? 'open' : 'not open'],
          ['Process', processRunning !== null && (processRunning ? 'runs' : 'does not run')],
          ['Process id', pid],
          ['Processes', processes],
          ['Memory', memoryUsage],
          ['CPU', cpuUsage],
          ['Started', startedAt && formatAge(startedAt)],
          ['Last end', diagnostics.lastEnd],
          ['Held in by', sandbox],
          ['Session', diagnostics.sessionEra],
          ['Calls that run', diagnostics.activeRequests],
        ]}
      />
      {diagnostics.stderrTail ? (
        <details>
          <summary>Standard error</summary>
          <JsonView value={diagnostics.stderrTail} />
        </details>
      ) : null}
    </section>
  );
}

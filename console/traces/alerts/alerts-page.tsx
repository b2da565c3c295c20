import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import type { Alert } from '../parts/answers.ts';
import { Pager } from '../../ui/pager.tsx';
import { TracesNav } from '../parts/traces-nav.tsx';
import { AlertCard } from './alert-card.tsx';
import { AlertForm } from './alert-form.tsx';

const pageSize = 20;
const refreshMs = 10_000;

/** Which metrics are watched, and how they stand. */
export function AlertsPage(): ReactNode {
  const [offset, setOffset] = useState(0);
  const [edited, setEdited] = useState<Alert | 'new'>();
  const alerts = useAnswer('tracer', 'GET /api/v1/alerts', {
    query: { limit: pageSize, offset },
    everyMs: refreshMs,
  });
  return (
    <Page
      title="Traces"
      actions={
        <Permitted needs="tracer:configure">
          <button
            type="button"
            className="primary"
            disabled={edited === 'new'}
            onClick={() => setEdited('new')}
          >
            New alert
          </button>
        </Permitted>
      }
    >
      <TracesNav />
      {edited === undefined ? null : (
        <AlertForm
          key={edited === 'new' ? 'new' : edited.alertId}
          alert={edited === 'new' ? undefined : edited}
          onDone={() => setEdited(undefined)}
        />
      )}
      <Answered query={alerts}>
        {(answer) =>
          answer.total === 0 ? (
            <Empty title="No alerts yet">
              <p>
                An alert watches a metric of the traces, such as the error rate, and tells Slack or
                an email address when it crosses a threshold. Make one with “New alert”; a dry run
                says when it would have fired in the past.
              </p>
            </Empty>
          ) : (
            <>
              {answer.alerts.map((alert) => (
                <AlertCard key={alert.alertId} alert={alert} onEdit={() => setEdited(alert)} />
              ))}
              <Pager offset={offset} limit={pageSize} total={answer.total} onMove={setOffset} />
            </>
          )
        }
      </Answered>
    </Page>
  );
}

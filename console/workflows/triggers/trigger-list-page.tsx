import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { TriggerCard } from './trigger-card.tsx';
import { WorkflowLink } from '../parts/workflow-link.tsx';
import { NewTriggerButton } from './trigger-dialog.tsx';

const limit = 20;
const everyMs = 5_000;

/** What starts a workflow by itself. */
export function TriggerListPage({ workflowId }: { readonly workflowId: string }): ReactNode {
  const [offset, setOffset] = useState(0);
  const triggers = useAnswer('workflow', 'GET /api/v1/workflows/:workflowId/triggers', {
    params: { workflowId },
    query: { limit, offset },
    everyMs,
  });
  return (
    <Page
      title={
        <>
          Triggers of <WorkflowLink id={workflowId} />
        </>
      }
      actions={
        <>
          <Link href={`/${workflowId}/executions`}>Executions</Link>
          <NewTriggerButton workflowId={workflowId} />
        </>
      }
    >
      <Answered query={triggers}>
        {(answer) =>
          answer.total === 0 ? (
            <NoTriggers />
          ) : (
            <>
              <div className="stack">
                {answer.triggers.map((trigger) => (
                  <TriggerCard key={trigger.id} trigger={trigger} />
                ))}
              </div>
              <Pager {...{ offset, limit, total: answer.total }} onMove={setOffset} />
            </>
          )
        }
      </Answered>
    </Page>
  );
}

function NoTriggers() {
  return (
    <Empty title="Nothing starts it by itself">
      <p>
        A trigger starts what is published: at set times, when a request comes in, or when something
        happens in the suite.
      </p>
    </Empty>
  );
}

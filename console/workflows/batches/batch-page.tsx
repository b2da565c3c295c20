import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatAge, formatCount, formatDollars, formatDuration } from '../../ui/text.ts';
import { ShortId } from '../parts/short-id.tsx';
import { WorkflowLink } from '../parts/workflow-link.tsx';
import { isOver, leftCount, type Batch } from './batch.ts';
import { BatchProgress } from './batch-progress.tsx';
import { ItemTable } from './item-table.tsx';

const everyMs = 2_000;

/** A batch: how far it is, and what came of each item. */
export function BatchPage({ batchId }: { readonly batchId: string }): ReactNode {
  const batch = useAnswer('workflow', 'GET /api/v1/batches/:batchId', {
    params: { batchId },
    everyMs,
  });
  return (
    <Answered query={batch} title="Batch">
      {(answer) => <BatchView batch={answer} />}
    </Answered>
  );
}

function BatchView({ batch }: { readonly batch: Batch }) {
  const { batchId, workflowId, status } = batch;
  const resume = useChange('workflow', 'POST /api/v1/batches/:batchId/resume');
  return (
    <Page
      title={
        <>
          Batch <ShortId id={batchId} /> of <WorkflowLink id={workflowId} />
        </>
      }
      actions={
        <>
          <Link href={`/${workflowId}/batches`}>Batches</Link>
          <Permitted needs="workflow:execute">
            {status === 'processing' ? <CancelButton batchId={batchId} /> : null}
            {isOver(batch) && leftCount(batch) > 0 ? (
              <button
                type="button"
                title="Failed and cancelled items go on from the step that failed; skipped ones begin"
                disabled={resume.isPending}
                onClick={() => resume.mutate({ params: { batchId } })}
              >
                Run the other {formatCount(leftCount(batch))} again
              </button>
            ) : null}
          </Permitted>
        </>
      }
    >
      <section className="card stack" aria-label="State">
        <div className="row wrap">
          <output>
            <Badge state={status} />
          </output>
          <BatchProgress batch={batch} />
        </div>
        <BatchFacts batch={batch} />
        {resume.error ? <Problem error={resume.error} /> : null}
      </section>
      <ItemTable batchId={batchId} workflowId={workflowId} />
    </Page>
  );
}

function BatchFacts({ batch }: { readonly batch: Batch }) {
  const { totalItems, version, options, createdAt, duration, tokensUsed, cost } = batch;
  return (
    <Facts
      facts={[
        ['Items', formatCount(totalItems)],
        ['Version', version],
        ['At once', options.concurrency],
        ['When one fails', options.failureMode === 'stop' ? 'it stops' : 'the others go on'],
        ['Started', formatAge(createdAt)],
        ['Took', duration === undefined ? undefined : formatDuration(duration)],
        ['Tokens', tokensUsed > 0 && formatCount(tokensUsed)],
        ['Cost', cost > 0 && formatDollars(cost)],
      ]}
    />
  );
}

function CancelButton({ batchId }: { readonly batchId: string }) {
  const cancel = useChange('workflow', 'POST /api/v1/batches/:batchId/cancel');
  return (
    <ConfirmButton
      label="Cancel"
      title="Call this batch off?"
      action="Call it off"
      onConfirm={() => cancel.mutateAsync({ params: { batchId } })}
    >
      <p>What runs is cancelled, and the rest never starts. It can be run again from there.</p>
    </ConfirmButton>
  );
}

import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { WorkflowLink } from '../parts/workflow-link.tsx';
import type { FlowTest, FlowTestResult } from './flow-test.ts';
import { TestCard } from './test-card.tsx';
import { NewTestButton } from './test-dialog.tsx';

type Results = ReadonlyMap<string, FlowTestResult>;

const none: readonly FlowTest[] = [];

/** The tests of a workflow, and what they come to. */
export function TestListPage({ workflowId }: { readonly workflowId: string }): ReactNode {
  const tests = useAnswer('workflow', 'GET /api/v1/workflows/:id/tests', {
    params: { id: workflowId },
  });
  const { results, run, isRunning, error } = useRuns(workflowId);
  const known = tests.data?.tests ?? none;
  return (
    <Page
      title={
        <>
          Tests of <WorkflowLink id={workflowId} />
        </>
      }
      actions={
        <>
          <Summary tests={known} results={results} />
          {known.length > 0 ? (
            <Permitted needs="workflow:execute">
              <button type="button" disabled={isRunning} onClick={() => run()}>
                Run all
              </button>
            </Permitted>
          ) : null}
          {tests.data ? (
            <Permitted needs="workflow:create">
              <NewTestButton workflowId={workflowId} tests={known} />
            </Permitted>
          ) : null}
        </>
      }
    >
      {error ? <Problem error={error} /> : null}
      <Answered query={tests}>
        {() =>
          known.length === 0 ? (
            <NoTests />
          ) : (
            <div className="stack">
              {known.map((test) => (
                <TestCard
                  key={test.name}
                  {...{ workflowId, test, isRunning }}
                  tests={known}
                  result={results.get(test.name)}
                  onRun={() => run(test.name)}
                />
              ))}
            </div>
          )
        }
      </Answered>
    </Page>
  );
}

/** Runs tests against the newest version, and keeps what each came to last. */
function useRuns(workflowId: string) {
  const [results, setResults] = useState<Results>(new Map());
  const running = useChange('workflow', 'POST /api/v1/workflows/:id/tests/run', {
    onDone: ({ results: fresh }) =>
      setResults((known) => new Map([...known, ...fresh.map((one) => [one.name, one] as const)])),
  });
  const run = (name?: string) =>
    running.mutate({ params: { id: workflowId }, body: name === undefined ? {} : { name } });
  return { results, run, isRunning: running.isPending, error: running.error };
}

interface SummaryProps {
  readonly tests: readonly FlowTest[];
  readonly results: Results;
}

function Summary({ tests, results }: SummaryProps) {
  const run = tests.flatMap(({ name }) => results.get(name) ?? []);
  if (run.length === 0) return null;
  const passed = run.filter((result) => result.passed).length;
  return (
    <output className="faint">
      {passed} of {run.length} passed
    </output>
  );
}

function NoTests() {
  return (
    <Empty title="No tests yet">
      <p>
        A test runs the flow for some inputs and looks at what comes of it. What is pinned is not
        run, so it needs no model.
      </p>
    </Empty>
  );
}

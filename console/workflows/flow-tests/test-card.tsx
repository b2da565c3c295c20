import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useChange } from '../../api/answers.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { formatDuration } from '../../ui/text.ts';
import { describeExpectation, type FlowTest, type FlowTestResult } from './flow-test.ts';
import { EditTestButton, type TestDialogProps } from './test-dialog.tsx';

export interface TestCardProps extends TestDialogProps {
  readonly test: FlowTest;
  /** Of its last run on this page. */
  readonly result: FlowTestResult | undefined;
  readonly isRunning: boolean;
  readonly onRun: () => void;
}

/** A test: what it does and expects, and what its last run came to. */
export function TestCard(props: TestCardProps): ReactNode {
  const { test, result, isRunning, onRun, workflowId, tests } = props;
  return (
    <article className="card stack" aria-label={test.name}>
      <header className="row wrap">
        {result ? <Verdict result={result} /> : null}
        <h2>{test.name}</h2>
        <div className="actions">
          <Permitted needs="workflow:execute">
            <button type="button" disabled={isRunning} onClick={onRun}>
              Run
            </button>
          </Permitted>
          <Permitted needs="workflow:create">
            <EditTestButton {...{ workflowId, tests, test }} />
            <Deletion {...{ workflowId, tests, test }} />
          </Permitted>
        </div>
      </header>
      <TestFacts test={test} />
      {result ? <Outcome workflowId={workflowId} result={result} /> : null}
    </article>
  );
}

function Verdict({ result: { passed } }: { readonly result: FlowTestResult }) {
  return <Badge state={passed ? 'passed' : 'failed'} tone={passed ? 'good' : 'bad'} />;
}

function TestFacts({ test }: { readonly test: FlowTest }) {
  const { inputs = {}, pinned = {}, status = 'completed', expect } = test;
  const given = Object.keys(inputs).length > 0 && JSON.stringify(inputs);
  return (
    <Facts
      facts={[
        ['Inputs', code(given)],
        ['Pinned', code(Object.keys(pinned).join(', '))],
        ['Must end', status],
        ['Expected', code(expect.map((one) => describeExpectation(one)).join('; '))],
      ]}
    />
  );
}

/** Nothing where there is none. */
function code(text: string | false): ReactNode {
  return text && <code>{text}</code>;
}

interface OutcomeProps {
  readonly workflowId: string;
  readonly result: FlowTestResult;
}

function Outcome({ workflowId, result }: OutcomeProps) {
  const { executionId, duration, failures } = result;
  return (
    <>
      <span className="faint">
        <Link href={`/${workflowId}/executions/${executionId}`}>Its execution</Link> took{' '}
        {formatDuration(duration)}
      </span>
      {failures.map(({ index, message, actual }) => (
        <div key={index} className="stack">
          <span>{message}</span>
          {actual === undefined ? null : <JsonView value={actual} />}
        </div>
      ))}
    </>
  );
}

function Deletion({
  workflowId: id,
  tests,
  test,
}: TestDialogProps & { readonly test: FlowTest }): ReactNode {
  const store = useChange('workflow', 'PUT /api/v1/workflows/:id/tests');
  const left = tests.filter(({ name }) => name !== test.name);
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete ${test.name}?`}
      onConfirm={() => store.mutateAsync({ params: { id }, body: { tests: left } })}
    >
      <p>The test goes for good; what it ran stays among the executions.</p>
    </ConfirmButton>
  );
}

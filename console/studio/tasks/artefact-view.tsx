import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatDuration } from '../../ui/text.ts';
import type { Artefact } from '../answers.ts';

type Report = Extract<Artefact, { kind: 'test_report' }>['report'];
type Finding = Extract<Artefact, { kind: 'findings' }>['findings'][number];

/** Something that a task made. */
export function ArtefactView({ artefact }: { readonly artefact: Artefact }): ReactNode {
  switch (artefact.kind) {
    case 'file':
      return (
        <p>
          Wrote <FileLink path={artefact.path} />
        </p>
      );
    case 'diff':
      return <JsonView value={artefact.text} />;
    case 'test_report':
      return <TestReport report={artefact.report} />;
    case 'findings':
      return <FindingList findings={artefact.findings} />;
    default:
      return (
        <p>
          Ran{' '}
          <Link href={`~/workflows/${artefact.workflowId}`}>
            the workflow {artefact.workflowId}
          </Link>{' '}
          as <code>{artefact.executionId}</code>
        </p>
      );
  }
}

function FileLink({ path }: { readonly path: string }) {
  return (
    <Link className="mono" href={`/?${new URLSearchParams({ file: path })}`}>
      {path}
    </Link>
  );
}

const caseTones: Readonly<Record<Report['cases'][number]['status'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  skipped: 'neutral',
};

const caseColumns: readonly Column<Report['cases'][number]>[] = [
  { title: 'Test', cell: ({ name }) => name },
  { title: 'State', cell: ({ status }) => <Badge state={status} tone={caseTones[status]} /> },
  { title: 'Message', cell: ({ message }) => message },
];

function TestReport({ report }: { readonly report: Report }) {
  const { passed, failed, skipped, exitCode, durationMs, cases, output } = report;
  return (
    <div className="stack">
      <p>
        {passed} passed, {failed} failed, {skipped} skipped in {formatDuration(durationMs)};{' '}
        {exitCode === null ? 'it was stopped' : `exit code ${exitCode}`}
      </p>
      {cases.length > 0 ? (
        <Table columns={caseColumns} rows={cases} keyOf={({ name }) => name} />
      ) : null}
      <details open={cases.length === 0}>
        <summary>Output</summary>
        <JsonView value={output} />
      </details>
    </div>
  );
}

const findingTones: Readonly<Record<Finding['severity'], Tone>> = {
  info: 'neutral',
  warning: 'warning',
  error: 'bad',
};

const findingColumns: readonly Column<Finding>[] = [
  {
    title: 'Severity',
    cell: ({ severity }) => <Badge state={severity} tone={findingTones[severity]} />,
  },
  {
    title: 'Where',
    cell: ({ file, line }) => (
      <>
        <FileLink path={file} />
        {line === undefined ? '' : `:${line}`}
      </>
    ),
  },
  { title: 'Finding', cell: ({ message }) => message },
];

function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) return <p>It found nothing to remark.</p>;
  return (
    <Table
      columns={findingColumns}
      rows={findings}
      keyOf={({ file, line, message }) => `${file}:${line} ${message}`}
    />
  );
}

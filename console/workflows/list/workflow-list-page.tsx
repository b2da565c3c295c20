import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAnswer } from '../../api/answers.ts';
import { useIsAllowed } from '../../session/person.ts';
import { Answered } from '../../ui/answered.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { useKept } from '../../ui/use-kept.ts';
import { StatusChoice } from '../parts/status-choice.tsx';
import { WorkflowsNav } from '../parts/workflows-nav.tsx';
import { WorkflowTable, type Workflow } from './workflow-table.tsx';

const limit = 20;
const statuses = ['active', 'draft', 'archived'] as const;

interface Filter {
  readonly q: string;
  readonly status: Workflow['status'] | undefined;
  readonly offset: number;
}

const everything: Filter = { q: '', status: undefined, offset: 0 };

/** All workflows that one may see, and the ways to a new one. */
export function WorkflowListPage(): ReactNode {
  const [filter, setFilter] = useKept('filter', everything);
  const { q, status, offset } = filter;
  const query = { q: useSettled(q), limit, offset, ...(status === undefined ? {} : { status }) };
  const workflows = useAnswer('workflow', 'GET /api/v1/workflows', { query });
  return (
    <Page title="Workflows" actions={<Actions />}>
      <WorkflowsNav />
      <Filters filter={filter} onChange={setFilter} />
      <Answered query={workflows}>
        {(answer) => (
          <>
            <Listing workflows={answer.workflows} isFiltered={q !== '' || status !== undefined} />
            <Pager
              {...{ offset, limit, total: answer.total }}
              onMove={(next) => setFilter({ ...filter, offset: next })}
            />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Actions() {
  const mayMake = useIsAllowed('workflow:create');
  if (!mayMake) return null;
  return (
    <>
      <Link href="/import" className="workflow-button">
        Import
      </Link>
      <Link href="/new" className="workflow-button primary">
        New workflow
      </Link>
    </>
  );
}

interface FiltersProps {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

function Filters({ filter, onChange }: FiltersProps) {
  return (
    <div className="row workflow-filters">
      <input
        type="search"
        aria-label="Search"
        placeholder="Search by name or description"
        value={filter.q}
        onChange={({ target }) => onChange({ ...filter, q: target.value, offset: 0 })}
      />
      <StatusChoice
        statuses={statuses}
        chosen={filter.status}
        onChoose={(status) => onChange({ ...filter, status, offset: 0 })}
        any="not archived"
      />
    </div>
  );
}

interface ListingProps {
  readonly workflows: readonly Workflow[];
  readonly isFiltered: boolean;
}

function Listing({ workflows, isFiltered }: ListingProps) {
  if (workflows.length > 0) return <WorkflowTable workflows={workflows} />;
  if (isFiltered) return <Empty title="No workflow is like that" />;
  return (
    <Empty title="No workflows yet">
      <p>
        Draw a <Link href="/new">new one</Link>, begin with a{' '}
        <Link href="/templates">template</Link>, or <Link href="/import">import</Link> one from n8n,
        Flowise, Langflow or Serverless Workflow.
      </p>
    </Empty>
  );
}

import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatAge } from '../../ui/text.ts';
import { formatBytes } from '../bytes.ts';
import { LocalModelActions } from './local-model-actions.tsx';
import { PullForm } from './pull-form.tsx';

type Model = Answer<'models', 'GET /api/tags'>['models'][number];
type Running = Answer<'models', 'GET /api/ps'>['models'][number];

interface Row extends Model {
  /** Absent while it is not in memory. */
  readonly running: Running | undefined;
}

const refreshMs = 5_000;

/** The models of this machine, and which of them are in memory. */
export function LocalTab(): ReactNode {
  const tags = useAnswer('models', 'GET /api/tags', { everyMs: refreshMs });
  const running = useAnswer('models', 'GET /api/ps', { everyMs: refreshMs });
  return (
    <div className="stack">
      <Answered query={tags}>
        {({ models }) => <Models models={models} running={running.data?.models ?? []} />}
      </Answered>
      <PullForm />
    </div>
  );
}

interface ModelsProps {
  readonly models: readonly Model[];
  readonly running: readonly Running[];
}

function Models({ models, running }: ModelsProps): ReactNode {
  const [pageCount, setPageCount] = useState(1);
  if (models.length === 0) {
    return (
      <Empty title="There is no model on this machine">
        <p>Pull one by its name.</p>
      </Empty>
    );
  }
  const rows = models.map((model): Row => {
    return { ...model, running: running.find(({ name }) => name === model.name) };
  });
  const shown = rows.slice(0, pageCount * pageSize);
  return (
    <>
      <Table columns={columns} rows={shown} keyOf={({ name }) => name} />
      {shown.length < rows.length ? (
        <button type="button" onClick={() => setPageCount(pageCount + 1)}>
          Show more
        </button>
      ) : null}
    </>
  );
}

const pageSize = 100;

const columns: readonly Column<Row>[] = [
  { title: 'Model', cell: ({ name }) => <code>{name}</code> },
  { title: 'Kind', cell: ({ details }) => details.family },
  { title: 'Parameters', isFigure: true, cell: ({ details }) => details.parameter_size },
  { title: 'Quantisation', cell: ({ details }) => details.quantization_level },
  { title: 'Size', isFigure: true, cell: ({ size }) => formatBytes(size) },
  { title: 'Changed', cell: ({ modified_at: changedAt }) => formatAge(changedAt) },
  {
    title: 'Memory',
    cell: ({ running }) =>
      running ? (
        <span title={`Until ${new Date(running.expires_at).toLocaleString()} unless asked`}>
          <Badge state={`${formatBytes(running.size)} in memory`} tone="good" />
        </span>
      ) : (
        <Badge state="not loaded" />
      ),
  },
  {
    title: '',
    cell: ({ name, removable }) => <LocalModelActions name={name} isRemovable={removable} />,
  },
];

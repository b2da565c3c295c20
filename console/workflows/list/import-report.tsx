import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../../api/contracts.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Table, type Column } from '../../ui/table.tsx';

/** What an import answered: a workflow, or only what would become of it. */
export type Imported = Answer<'workflow', 'POST /api/v1/workflows/import'>;
type ImportedStep = Imported['report']['nodes'][number];

const tones: Readonly<Record<ImportedStep['status'], Tone>> = {
  exact: 'good',
  adapted: 'warning',
  unsupported: 'bad',
};

/** Step by step what was taken over and what was not. */
export function ImportReport({ imported }: { readonly imported: Imported }): ReactNode {
  const { name, report } = imported;
  return (
    <section className="stack" aria-label="Report">
      <p className="workflow-flat">
        {'id' in imported ? (
          <>
            Imported as <Link href={`/${imported.id}`}>{name}</Link>
            {imported.status === 'draft' ? ', a draft until you publish it' : ''}.{' '}
          </>
        ) : (
          <>Nothing was stored. </>
        )}
        The document is one of {report.format}; {Math.round(report.fidelity * 100)} % of it was
        taken over.
      </p>
      <Notes title="To be replaced by hand" notes={report.unsupported} />
      <Notes title="Warnings" notes={report.warnings} />
      <Table
        columns={columns}
        rows={report.nodes}
        keyOf={({ source, nodeId }) => `${source} ${nodeId ?? ''}`}
      />
    </section>
  );
}

function Notes({ title, notes }: { readonly title: string; readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <div className="card">
      <h2>{title}</h2>
      <ul className="workflow-flat">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

const columns: readonly Column<ImportedStep>[] = [
  { title: 'Step', cell: ({ source }) => source },
  { title: 'Was', cell: ({ type }) => <code>{type}</code> },
  { title: 'Is', cell: ({ nodeId }) => (nodeId ? <code>{nodeId}</code> : '') },
  { title: 'State', cell: ({ status }) => <Badge state={status} tone={tones[status]} /> },
  { title: 'Note', cell: ({ note }) => note ?? '' },
];

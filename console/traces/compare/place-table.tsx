import { useState, type ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { formatDuration } from '../../ui/text.ts';
import type { Comparison } from '../parts/answers.ts';
import { formatChange } from '../parts/durations.ts';

type Place = Comparison['spans'][number];

const tones: Readonly<Record<Place['change'], Tone>> = {
  added: 'warning',
  removed: 'busy',
  changed: 'neutral',
  same: 'good',
};

/** Spans of two traces at the same place of their trees, beside each other. */
export function PlaceTable({ places }: { readonly places: readonly Place[] }): ReactNode {
  const [isAll, setIsAll] = useState(false);
  const shown = isAll ? places : places.filter(({ change }) => change !== 'same');
  return (
    <>
      <label>
        <input
          type="checkbox"
          checked={isAll}
          onChange={({ target }) => setIsAll(target.checked)}
        />{' '}
        Show also what is the same
      </label>
      {shown.length === 0 ? (
        <p className="faint">No place is different.</p>
      ) : (
        <div className="wide">
          <Table
            columns={columns}
            rows={shown}
            keyOf={({ service, name, path }) => [...path, service, name].join('\n')}
          />
        </div>
      )}
    </>
  );
}

const columns: readonly Column<Place>[] = [
  { title: 'Change', cell: ({ change }) => <Badge state={change} tone={tones[change]} /> },
  {
    title: 'Span',
    cell: ({ service, name, path, isPathCut }) => (
      <>
        {path.length > 0 ? (
          <div className="faint">
            {isPathCut ? '… › ' : ''}
            {path.join(' › ')} ›
          </div>
        ) : null}
        {service}: {name}
      </>
    ),
  },
  { title: 'Base', isFigure: true, cell: ({ base }) => <Sums sums={base} /> },
  { title: 'Other', isFigure: true, cell: ({ other }) => <Sums sums={other} /> },
  {
    title: 'Duration',
    isFigure: true,
    cell: ({ durationChange }) => formatChange(durationChange),
  },
  {
    title: 'Critical path',
    isFigure: true,
    cell: ({ criticalPathChange }) => formatChange(criticalPathChange),
  },
];

function Sums({ sums }: { readonly sums: Place['base'] | undefined }): ReactNode {
  if (!sums) return <span className="faint">not there</span>;
  const errors = sums.errors > 0 ? `, ${sums.errors} failed` : '';
  return (
    <>
      {formatDuration(sums.duration)}
      <div className="faint">
        {sums.count} {sums.count === 1 ? 'span' : 'spans'}
        {errors}
      </div>
    </>
  );
}

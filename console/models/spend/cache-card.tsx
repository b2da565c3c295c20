import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { Confirmation } from '../../ui/confirmation.tsx';
import { formatCount } from '../../ui/text.ts';
import { formatBytes } from '../bytes.ts';

type Cache = Answer<'gateway', 'GET /api/v1/cache'>;

const everyMs = 10_000;

/** How often the cache answers, what it holds, and a way to empty it. */
export function CacheCard(): ReactNode {
  const [isAsked, setIsAsked] = useState(false);
  const cache = useAnswer('gateway', 'GET /api/v1/cache', { everyMs });
  const clearing = useChange('gateway', 'DELETE /api/v1/cache');
  return (
    <section className="card stack" aria-labelledby="cache">
      <div className="row">
        <h2 id="cache">Cache</h2>
        <div className="actions">
          {clearing.data ? <output>{clearing.data.evicted} answers were dropped.</output> : null}
          <button type="button" className="danger" onClick={() => setIsAsked(true)}>
            Clear my answers
          </button>
        </div>
      </div>
      <Answered query={cache}>{(answer) => <CacheFigures cache={answer} />}</Answered>
      {isAsked ? (
        <Confirmation
          title="Clear your cached answers?"
          action="Clear"
          change={clearing}
          onConfirm={() => clearing.mutate({}, { onSuccess: () => setIsAsked(false) })}
          onClose={() => setIsAsked(false)}
        >
          What you ask again is then asked for, and paid for, anew.
        </Confirmation>
      ) : null}
    </section>
  );
}

function CacheFigures({ cache }: { readonly cache: Cache }): ReactNode {
  const { hits, misses, hitRate, memory, database, semanticThreshold } = cache;
  return (
    <dl className="facts">
      <dt>Hit rate</dt>
      <dd>
        {hits + misses === 0 ? 'nothing was asked of it yet' : `${Math.round(hitRate * 100)} %`} (
        {formatCount(hits)} of {formatCount(hits + misses)})
      </dd>
      <dt>In memory</dt>
      <dd>{sizeOf(memory)}</dd>
      {database ? (
        <>
          <dt>In the database</dt>
          <dd>{sizeOf(database)}</dd>
        </>
      ) : null}
      <dt>Shared by</dt>
      <dd>
        {semanticThreshold === undefined
          ? 'identical requests'
          : `requests that mean the same, from a likeness of ${semanticThreshold} on`}
      </dd>
    </dl>
  );
}

function sizeOf({ entries, bytes, maxBytes }: Cache['memory']): string {
  return `${formatCount(entries)} answers, ${formatBytes(bytes)} of ${formatBytes(maxBytes)}`;
}

import type { ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import type { Answer } from '../../api/contracts.ts';
import { Answered } from '../../ui/answered.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { formatCount } from '../../ui/text.ts';
import { formatBytes } from '../bytes.ts';

type Cache = Answer<'gateway', 'GET /api/v1/cache'>;

const refreshMs = 10_000;

/** How often the cache answers, what it holds, and a way to empty it. */
export function CacheCard(): ReactNode {
  const cache = useAnswer('gateway', 'GET /api/v1/cache', { everyMs: refreshMs });
  const clearing = useChange('gateway', 'DELETE /api/v1/cache');
  return (
    <section className="card stack" aria-labelledby="cache">
      <div className="row">
        <h2 id="cache">Cache</h2>
        <div className="actions">
          {clearing.data ? <output>{clearing.data.evicted} answers were dropped.</output> : null}
          <ConfirmButton
            label="Clear my answers"
            title="Clear your cached answers?"
            action="Clear"
            onConfirm={() => clearing.mutateAsync({})}
          >
            What you ask again is then asked for, and paid for, anew.
          </ConfirmButton>
        </div>
      </div>
      <Answered query={cache}>{(answer) => <CacheFigures cache={answer} />}</Answered>
    </section>
  );
}

function CacheFigures({ cache }: { readonly cache: Cache }): ReactNode {
  const { hits, misses, hitRate, memory, database, semanticThreshold } = cache;
  const asked = hits + misses;
  return (
    <Facts
      facts={[
        [
          'Hit rate',
          asked === 0
            ? 'nothing was asked of it yet'
            : `${Math.round(hitRate * 100)} % (${formatCount(hits)} of ${formatCount(asked)})`,
        ],
        ['In memory', sizeOf(memory)],
        ['In the database', database && sizeOf(database)],
        [
          'Shared by',
          semanticThreshold === undefined
            ? 'identical requests'
            : `requests that mean the same, from a likeness of ${semanticThreshold} on`,
        ],
      ]}
    />
  );
}

function sizeOf({ entries, bytes, maxBytes }: Cache['memory']): string {
  return `${formatCount(entries)} answers, ${formatBytes(bytes)} of ${formatBytes(maxBytes)}`;
}

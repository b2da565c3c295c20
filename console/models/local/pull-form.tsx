import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Permitted } from '../../session/permitted.tsx';
import { Field } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { formatBytes } from '../bytes.ts';
import { pullModel, type PullProgress } from './pull.ts';

interface Pull {
  readonly model: string;
  readonly progress?: PullProgress;
  readonly status: 'running' | 'done' | 'failed';
  readonly error?: Error;
}

/** Fetches a model to this machine, and shows how far it has come. */
export function PullForm(): ReactNode {
  const [name, setName] = useState('');
  const { pull, begin, giveUp } = usePull();
  const isRunning = pull?.status === 'running';
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        void begin(name.trim());
      }}
    >
      <h2>Pull a model</h2>
      <Permitted needs="models:manage">
        <Field
          label="Name"
          hint="qwen3:0.6b, hf.co/OWNER/REPOSITORY:Q8_0, or the https address of a GGUF file"
        >
          <input required value={name} onChange={({ target }) => setName(target.value)} />
        </Field>
      </Permitted>
      <div className="row">
        <button type="submit" className="primary" disabled={isRunning || name.trim() === ''}>
          Pull
        </button>
        {isRunning ? (
          <button type="button" onClick={giveUp}>
            Give up
          </button>
        ) : null}
      </div>
      {pull ? <PullState pull={pull} /> : null}
    </form>
  );
}

function PullState({ pull }: { readonly pull: Pull }): ReactNode {
  const { model, progress, status, error } = pull;
  if (error) return <Problem error={error} />;
  if (status === 'done') return <output>{model} is here.</output>;
  const { total, completed } = progress ?? {};
  return (
    <div className="stack" aria-live="polite">
      <span>
        {model}: {progress?.status ?? 'asking'}
        {completed === undefined ? '' : `, ${formatBytes(completed)}`}
        {total === undefined ? '' : ` of ${formatBytes(total)}`}
      </span>
      <progress
        aria-label={`Progress of ${model}`}
        {...(total === undefined ? {} : { max: total, value: completed ?? 0 })}
      />
    </div>
  );
}

interface PullControl {
  readonly pull: Pull | undefined;
  readonly begin: (model: string) => Promise<void>;
  /** Reads no more; what has arrived is kept for the next time. */
  readonly giveUp: () => void;
}

function usePull(): PullControl {
  const client = useQueryClient();
  const [pull, setPull] = useState<Pull>();
  const stopper = useRef<AbortController>(undefined);
  useEffect(() => () => stopper.current?.abort(), []);
  const begin = async (model: string) => {
    stopper.current = new AbortController();
    const { signal } = stopper.current;
    setPull({ model, status: 'running' });
    try {
      for await (const progress of pullModel(model, signal)) {
        setPull({ model, progress, status: 'running' });
      }
      setPull({ model, status: 'done' });
      await client.invalidateQueries({ queryKey: ['models'] });
    } catch (error) {
      if (signal.aborted) return;
      setPull({ model, status: 'failed', error: error as Error });
    }
  };
  const giveUp = () => {
    stopper.current?.abort();
    setPull(undefined);
  };
  return { pull, begin, giveUp };
}

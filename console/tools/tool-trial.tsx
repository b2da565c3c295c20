import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { call } from '../api/call.ts';
import { Permitted } from '../session/permitted.tsx';
import { readObject } from '../ui/entry-text.ts';
import { Problem } from '../ui/problem.tsx';
import { draftOf, fieldsOf, readForm, type SchemaField } from '../ui/schema-fields.ts';
import { SchemaForm } from '../ui/schema-form.tsx';
import type { Called } from './answers.ts';
import { ToolResult } from './tool-result.tsx';

export interface ToolTrialProps {
  readonly connectionId: string;
  readonly tool: string;
  readonly schema: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Calls a tool with what is filled in, and shows what it answers. */
export function ToolTrial({ connectionId, tool, schema }: ToolTrialProps): ReactNode {
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const trial = useMutation({
    mutationFn: (given: Arguments) => {
      abort.current = new AbortController();
      return callTool({ connectionId, tool, given, signal: abort.current.signal });
    },
  });
  return (
    <div className="stack">
      <ArgumentsForm schema={schema} isRunning={trial.isPending} onCall={trial.mutate} />
      {trial.isPending ? (
        <div className="row">
          <span className="faint">It runs …</span>
          <button type="button" onClick={() => abort.current?.abort()}>
            Cancel
          </button>
        </div>
      ) : null}
      {trial.error ? <Problem error={explain(trial.error)} /> : null}
      {trial.data ? <ToolResult called={trial.data} /> : null}
    </div>
  );
}

interface Call extends Omit<ToolTrialProps, 'schema'> {
  readonly given: Arguments;
  /** The registry calls the call off at the server when its caller leaves. */
  readonly signal: AbortSignal;
}

function callTool({ connectionId, tool, given, signal }: Call): Promise<Called> {
  return call('registry', 'POST /connections/:connectionId/call', {
    params: { connectionId },
    body: { tool, arguments: { ...given } },
    signal,
  });
}

function explain(error: Error): Error {
  return error.name === 'AbortError' ? new Error('called off') : error;
}

interface ArgumentsFormProps {
  readonly schema: unknown;
  readonly isRunning: boolean;
  readonly onCall: (given: Arguments) => void;
}

function ArgumentsForm({ schema, isRunning, onCall }: ArgumentsFormProps): ReactNode {
  const fields = fieldsOf(schema);
  const [isJson, setJson] = useState(false);
  const [draft, setDraft] = useState(() => draftOf(fields));
  const [text, setText] = useState('{}');
  const [flaws, setFlaws] = useState<Readonly<Record<string, string>>>({});
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = isJson ? readText(text) : readForm(fields, draft);
    setFlaws(read.flaws);
    if (Object.keys(read.flaws).length === 0) onCall(read.value);
  };
  const turn = () => {
    if (!isJson) setText(JSON.stringify(readForm(fields, draft).value, null, 2));
    setFlaws({});
    setJson(!isJson);
  };
  return (
    <form className="stack" onSubmit={submit} aria-label="Try it">
      {isJson ? (
        <TextArguments text={text} flaw={flaws['']} onChange={setText} />
      ) : (
        <FormArguments fields={fields} draft={draft} flaws={flaws} onChange={setDraft} />
      )}
      <div className="row">
        <Permitted needs={['registry:call', 'agent:execute']}>
          <button type="submit" className="primary" disabled={isRunning}>
            Call
          </button>
        </Permitted>
        <button type="button" className="quiet" onClick={turn}>
          {isJson ? 'As a form' : 'As JSON'}
        </button>
      </div>
    </form>
  );
}

/** Arguments that were written as JSON; its flaw stands under no name. */
function readText(text: string): ReturnType<typeof readForm> {
  try {
    return { value: readObject(text, 'the arguments'), flaws: {} };
  } catch (error) {
    return { value: {}, flaws: { '': error instanceof Error ? error.message : String(error) } };
  }
}

function FormArguments(props: Parameters<typeof SchemaForm>[0]): ReactNode {
  const { fields }: { readonly fields: readonly SchemaField[] } = props;
  if (fields.length === 0) {
    return <p className="faint flat">Its schema names no arguments.</p>;
  }
  return <SchemaForm {...props} />;
}

interface TextArgumentsProps {
  readonly text: string;
  readonly flaw: string | undefined;
  readonly onChange: (text: string) => void;
}

function TextArguments({ text, flaw, onChange }: TextArgumentsProps): ReactNode {
  return (
    <>
      <textarea
        aria-label="Arguments as JSON"
        className="mono"
        rows={6}
        value={text}
        onChange={({ target }) => onChange(target.value)}
      />
      {flaw ? (
        <span className="bad-text" role="alert">
          {flaw}
        </span>
      ) : null}
    </>
  );
}

import { useRef, type ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { requestOf } from '../../api/call.ts';
import { send } from '../../api/send.ts';
import type { Answer } from '../../api/contracts.ts';
import { Permitted } from '../../session/permitted.tsx';
import { Problem } from '../../ui/problem.tsx';

type Imported = Answer<'tracer', 'POST /api/v1/traces/import'>;

/** Takes traces from a file of Jaeger, Zipkin or OpenTelemetry. */
export function ImportButton({ onImport }: { readonly onImport: () => void }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const change = useMutation({ mutationFn: importFile, onSuccess: onImport });
  const choose = (file: File | undefined) => {
    if (file) change.mutate(file);
    if (input.current) input.current.value = '';
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File with traces"
        accept=".json,.gz,application/json"
        onChange={({ target }) => choose(target.files?.[0])}
      />
      <Permitted needs="tracer:write">
        <button
          type="button"
          disabled={change.isPending}
          title="OTLP/JSON, Jaeger's JSON or Zipkin v2; gzipped or not"
          onClick={() => input.current?.click()}
        >
          {change.isPending ? 'Importing …' : 'Import file'}
        </button>
      </Permitted>
      {change.data ? <output>{tellOf(change.data)}</output> : null}
      {change.error ? <Problem error={change.error} /> : null}
    </>
  );
}

async function importFile(file: File): Promise<Imported> {
  const plain = requestOf('tracer', 'POST /api/v1/traces/import', {
    headers: {
      'content-type': 'application/json',
      ...(file.name.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {}),
    },
  });
  const response = await send(new Request(plain, { method: 'POST', body: file }));
  // The tracer answers by its contract.
  return (await response.json()) as Imported;
}

function tellOf({ spans, traces, rejected, reason }: Imported): string {
  const refused = rejected > 0 ? `, ${rejected} refused: ${reason ?? ''}` : '';
  return `${spans} spans of ${traces} traces taken${refused}`;
}

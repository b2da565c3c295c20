import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { requestOf } from '../../api/call.ts';
import { send } from '../../api/send.ts';
import { saveFile } from '../../ui/download.ts';
import { Problem } from '../../ui/problem.tsx';

const formats = [
  [
    'otlp',
    'OTLP JSON',
    'OpenTelemetry’s own format: loses nothing, and can be imported here again.',
  ],
  ['jaeger', 'Jaeger JSON', 'Opens in Jaeger UI; attributes of scopes and links are left out.'],
] as const;

type Format = (typeof formats)[number][0];

/** The trace as a file for other tools. */
export function ExportTab({ traceId }: { readonly traceId: string }): ReactNode {
  return (
    <div className="columns">
      {formats.map(([format, title, hint]) => (
        <section key={format} className="card stack">
          <h2>{title}</h2>
          <p className="faint">{hint}</p>
          <DownloadButton traceId={traceId} format={format} title={title} />
        </section>
      ))}
    </div>
  );
}

interface DownloadButtonProps {
  readonly traceId: string;
  readonly format: Format;
  readonly title: string;
}

function DownloadButton({ traceId, format, title }: DownloadButtonProps): ReactNode {
  const download = useMutation({ mutationFn: () => save(traceId, format) });
  return (
    <>
      <button
        type="button"
        className="primary"
        disabled={download.isPending}
        onClick={() => download.mutate()}
      >
        Download {title}
      </button>
      {download.error ? <Problem error={download.error} /> : null}
    </>
  );
}

async function save(traceId: string, format: Format): Promise<void> {
  const input = { params: { traceId }, query: { format } };
  const response = await send(requestOf('tracer', 'GET /api/v1/traces/:traceId/export', input));
  // As it comes: a number may have more digits than a script can hold.
  saveFile(`${traceId}.${format}.json`, await response.blob());
}

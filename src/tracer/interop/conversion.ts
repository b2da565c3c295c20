import { encodeExport } from '../otlp/encode-export.ts';
import { encodeJsonExport } from '../otlp/from-json.ts';
import { scanSpans } from '../otlp/scan.ts';
import { readImport, readZipkinSpans } from './import.ts';

/** `file`: whole traces, in the format that its shape shows; `zipkin`: spans that a client sent. */
export type DocumentKind = 'file' | 'zipkin';

/** A document as exports of OTLP in protobuf. */
export interface Conversion {
  readonly format: 'otlp' | 'zipkin' | 'jaeger';
  readonly bodies: readonly Uint8Array[];
  /** Of those whose spans are taken. */
  readonly traceCount: number;
}

/** Converts a JSON document; throws `invalid` with the place of what is wrong. */
export function convert(text: string, kind: DocumentKind): Conversion {
  if (kind === 'zipkin') return counted('zipkin', readZipkinSpans(text).map(encodeExport));
  const { format, exports } = readImport(text);
  return counted(format, format === 'otlp' ? [encodeJsonExport(text)] : exports.map(encodeExport));
}

function counted(format: Conversion['format'], bodies: readonly Uint8Array[]): Conversion {
  const ids = bodies.flatMap((body) => scanSpans(body).heads.map(({ traceId }) => traceId));
  return { format, bodies, traceCount: new Set(ids).size };
}

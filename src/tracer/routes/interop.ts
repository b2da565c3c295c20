import type { Call, Handler } from '../../kit/http/call.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { DocumentKind } from '../interop/conversion.ts';
import { readDocument } from '../interop/document.ts';
import { Converter } from '../interop/converter.ts';
import { storeConversion, type Ingest } from '../interop/importer.ts';
import { readTraceId } from '../interop/jaeger-query.ts';
import type { interopRoutes as routes } from '../schemas/interop.ts';
import { jaegerHandlers, type JaegerHandlers, type JaegerParts } from './jaeger.ts';

type Routes = typeof routes;
type OwnNames = 'importTraces' | 'receiveZipkinSpans' | 'exportTrace';
type InteropHandlers = JaegerHandlers & { readonly [K in OwnNames]: Handler<Routes[K]> };

export interface InteropParts extends JaegerParts {
  /** Stores the spans of an ExportTraceServiceRequest in protobuf; resolves when they are durable. */
  readonly ingest: Ingest;
  /** OTLP/JSON of a trace; throws `not_found`. */
  otlpJson(traceId: string): Promise<Buffer>;
}

type Sent = Pick<Call, 'bytes' | 'headers'>;

/** The edge of the formats of others. */
export function interopHandlers(parts: InteropParts): InteropHandlers {
  const { ingest } = parts;
  const converter = new Converter();
  const store = async ({ bytes, headers }: Sent, kind: DocumentKind) => {
    const text = await readDocument(bytes, headers);
    return storeConversion(await converter.convert(text, kind), ingest);
  };
  return {
    ...jaegerHandlers(parts),
    importTraces: (call) => store(call, 'file'),
    receiveZipkinSpans: async (call) => {
      await store(call, 'zipkin');
      return new Response(null, { status: 202 });
    },
    exportTrace: async ({ params, query }) => {
      const traceId = readTraceId(params.traceId);
      if (query.format === 'otlp') return new WrittenJson(await parts.otlpJson(traceId));
      return jaegerFile(await parts.view(traceId, 'jaeger', undefined));
    },
  };
}

/** What Jaeger UI loads as a file. */
function jaegerFile(trace: Buffer): WrittenJson {
  return new WrittenJson(Buffer.concat([Buffer.from('{"data":['), trace, Buffer.from(']}')]));
}

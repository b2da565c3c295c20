import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { peerPermission } from '../../kit/permissions.ts';

/** Largest export, as it comes and inflated. */
export const exportBytesMax = 16 * 1024 * 1024;

/** Spans as OpenTelemetry's exporters send them. */
export const otlpRoutes = {
  exportTraces: {
    method: 'POST',
    url: '/v1/traces',
    summary: 'Store spans (OTLP/HTTP)',
    description:
      'Takes an ExportTraceServiceRequest as protobuf (`application/x-protobuf`) or JSON (`application/json`), with `Content-Encoding: gzip` or none. ' +
      'An answer of 200 means that the spans are stored; spans that break a rule are counted in `partialSuccess`. ' +
      '429 and 503 with `Retry-After` ask to send the same again. An export that cannot be read or stored is refused with google.rpc.Status in the format of the request; 401, 403, 405, 415 and a body over 16 MiB as it comes are refused as everywhere in the suite.',
    permission: ['tracer:write', peerPermission],
    rateLimit: 'none',
    trace: 'none',
    takesBytes: true,
    bodyBytesMax: exportBytesMax,
    schema: {
      response: {
        200: Type.Object({
          partialSuccess: Type.Optional(
            Type.Object({ rejectedSpans: Type.String(), errorMessage: Type.String() }),
          ),
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

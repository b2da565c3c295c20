import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../../kit/errors.ts';
import type { Call, Handler } from '../../kit/http/call.ts';
import { WrittenBytes } from '../../kit/answers/written-json.ts';
import type { Intake } from '../intake/intake.ts';
import { contentTypes, exportAnswer, failureAnswer, type ExportFormat } from '../otlp/answers.ts';
import type { otlpRoutes } from '../schemas/otlp.ts';

type Routes = typeof otlpRoutes;
type OtlpHandlers = { readonly [K in keyof Routes]: Handler<Routes[K]> };

/** The edge of OTLP/HTTP (opentelemetry-proto, docs/specification.md). */
export function otlpHandlers({ intake }: { readonly intake: Intake }): OtlpHandlers {
  return {
    exportTraces: async (call) => {
      const format = formatOf(call.headers);
      try {
        const coding = call.headers['content-encoding'];
        const { rejected, reason } = await intake.submit(call.bytes, { format, coding });
        return written(
          format,
          exportAnswer(format, { rejectedCount: rejected, rejection: reason }),
        );
      } catch (error) {
        return refuse(call, format, Fault.from(error));
      }
    },
  };
}

/** Senders read the status; the body says more, as google.rpc.Status. */
function refuse(
  call: Call<Routes['exportTraces']>,
  format: ExportFormat,
  fault: Fault,
): WrittenBytes {
  if (fault.code === 'internal') throw fault;
  call.setStatus(fault.status);
  if (fault.retryAfter !== undefined) call.setHeader('retry-after', String(fault.retryAfter));
  return written(format, failureAnswer(format, fault));
}

function written(format: ExportFormat, bytes: Uint8Array): WrittenBytes {
  const { buffer, byteOffset, byteLength } = bytes;
  return new WrittenBytes(Buffer.from(buffer, byteOffset, byteLength), contentTypes[format]);
}

function formatOf(headers: IncomingHttpHeaders): ExportFormat {
  const [given = ''] = (headers['content-type'] ?? '').split(';');
  const mediaType = given.trim().toLowerCase();
  if (mediaType === contentTypes.json) return 'json';
  if (mediaType === contentTypes.protobuf || mediaType === 'application/protobuf') {
    return 'protobuf';
  }
  throw new Fault('invalid', `send the body as ${contentTypes.protobuf} or ${contentTypes.json}`, {
    status: 415,
    reason: 'unsupported_media_type',
  });
}

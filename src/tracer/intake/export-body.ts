import { Fault } from '../../kit/errors.ts';
import { asBuffer } from '../bytes.ts';
import { encodeJsonExport } from '../otlp/from-json.ts';
import { inflateBodySync } from '../otlp/inflate.ts';
import type { ExportForm, Refusal } from './messages.ts';

/** The protobuf of an export; a Fault `invalid` or `too_large` where it is none. */
export function readExportBody(body: Uint8Array, form: ExportForm, bytesMax: number): Uint8Array {
  const plain = inflateBodySync(body, form.coding, bytesMax);
  return form.format === 'json' ? encodeJsonExport(asBuffer(plain)) : plain;
}

/** What the sender is told of it. */
export function refusalOf(error: unknown): Refusal {
  const { code, reason, message, status } = Fault.from(error);
  if (code === 'invalid' || code === 'too_large') return { code, reason, message, status };
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'internal', reason, message: cause, status };
}

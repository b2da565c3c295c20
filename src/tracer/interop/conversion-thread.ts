/** The thread that converts one large document, away from the event loop. */
import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../kit/errors.ts';
import { convert, type Conversion, type DocumentKind } from './conversion.ts';

/** What the thread is started with. */
export interface ConversionTask {
  readonly text: string;
  readonly kind: DocumentKind;
}

/** What it posts, once. */
export type ConversionReply =
  | { readonly conversion: Conversion }
  | { readonly refusal: { readonly message: string; readonly options: object } };

if (parentPort) serve(parentPort);

function serve(port: NonNullable<typeof parentPort>): void {
  const reply = answer(workerData as ConversionTask);
  port.postMessage(reply, transfersOf(reply));
}

function answer({ text, kind }: ConversionTask): ConversionReply {
  try {
    const { bodies, ...rest } = convert(text, kind);
    // Copies of their own: a view would be posted with all the memory behind it.
    return { conversion: { ...rest, bodies: bodies.map((body) => new Uint8Array(body)) } };
  } catch (error) {
    const { code, message, reason, detail, status } = Fault.from(error);
    if (code !== 'invalid') throw error;
    return { refusal: { message, options: { detail, status, ...(reason ? { reason } : {}) } } };
  }
}

function transfersOf(reply: ConversionReply): ArrayBuffer[] {
  if (!('conversion' in reply)) return [];
  return reply.conversion.bodies.map(({ buffer }) => buffer as ArrayBuffer);
}

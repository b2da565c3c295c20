import { Fault, type FaultOptions } from '../../../kit/errors.ts';
import type { HiddenValues } from '../../../kit/secrets/hidden-values.ts';

/** An answer other than 200. */
export interface Refusal {
  /** The runtime's, for sentences. */
  readonly name: string;
  readonly status: number;
  /** Seconds; undefined where it does not say. */
  readonly retryAfter: number | undefined;
  readonly text: string;
  /** What of the text nobody may read. */
  readonly secrets: HiddenValues;
}

/** Its refusals of us are no refusals of our caller: a bad key is the operator's to mend. */
export function refusalOf({ name, status, retryAfter, text, secrets }: Refusal): Fault {
  if (status === 401 || status === 403) {
    return new Fault('upstream', `${name} asks for a key that it accepts`);
  }
  const { said, kinds } = read(text);
  const shown = said && secrets.cutFrom(said).slice(0, sayingMax);
  const message = shown ? `${name}: ${shown}` : `${name} answers with status ${status}`;
  const wait = (seconds: number) => ({ retryAfter: retryAfter || seconds });
  if (status === 404) return new Fault('not_found', message, { reason: 'model_not_found' });
  if (status === 400 || status === 422) return new Fault('invalid', message, reasonOf(kinds));
  if (status === 413) return new Fault('too_large', message);
  if (status === 429) return new Fault('exhausted', message, wait(1));
  if (status === 503) return new Fault('unavailable', message, wait(5));
  return new Fault('upstream', message);
}

/** What llama-server, and OpenAI's API, call a prompt beyond the context. */
const tooLong = ['exceed_context_size_error', 'context_length_exceeded'];

function reasonOf(kinds: readonly unknown[]): FaultOptions {
  const isTooLong = kinds.some((kind) => tooLong.some((one) => one === kind));
  return isTooLong ? { reason: 'context_length_exceeded' } : {};
}

const sayingMax = 500;

/** The sentence of an error in Ollama's envelope or in that of OpenAI, and what it is called. */
function read(text: string): { readonly said?: string; readonly kinds: readonly unknown[] } {
  const error = errorIn(text);
  const fields = typeof error === 'object' && error !== null ? error : { message: error };
  const { message, type, code } = fields as Readonly<Record<string, unknown>>;
  const kinds = [type, code];
  return typeof message === 'string' ? { said: message, kinds } : { kinds };
}

function errorIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly error?: unknown } | null)?.error;
  } catch {
    return undefined;
  }
}

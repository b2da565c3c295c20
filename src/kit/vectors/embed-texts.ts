import type { CallOptions } from '../client.ts';
import { Fault } from '../errors.ts';
import type { Span } from '../trace/trace.ts';

/** Whoever embeds as OpenAI's API does, and says how many dimensions its vectors have. */
export interface EmbeddingsClient {
  createEmbeddings(
    input: {
      readonly body: {
        input: string[];
        encoding_format: 'base64';
        model?: string;
      };
    },
    options?: CallOptions,
  ): Promise<{
    readonly data: readonly { readonly embedding: string | readonly number[] }[];
    readonly model: string;
    readonly dimensions: number;
    readonly usage: { readonly prompt_tokens: number };
  }>;
}

export interface EmbedRequest {
  readonly texts: readonly string[];
  /** The one that comes with the product when absent. */
  readonly model?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly parent?: Span | undefined;
  /** For each batch of texts; 60 s when absent. */
  readonly timeoutMs?: number | undefined;
}

/** Vectors in the order of the texts. */
export interface Embedding {
  readonly vectors: readonly Float32Array[];
  readonly model: string;
  readonly dimensions: number;
  readonly tokens: number;
}

/** Texts in one request to the models. */
const batchSize = 64;
const timeoutMsDefault = 60_000;

/**
 * Turns texts into vectors of length 1; all or none. Fault `not_found` (`model_not_found`),
 * `deadline` (`model_timeout`), and `unavailable` (`embedder_unavailable`) for all else that fails.
 */
export async function embedTexts(
  models: EmbeddingsClient,
  { texts, model, signal, parent, timeoutMs = timeoutMsDefault }: EmbedRequest,
): Promise<Embedding> {
  const vectors: Float32Array[] = [];
  let found: Omit<Embedding, 'vectors'> = { model: model ?? '', dimensions: 0, tokens: 0 };
  for (let at = 0; at < texts.length; at += batchSize) {
    const input = texts.slice(at, at + batchSize);
    const body = {
      input,
      encoding_format: 'base64' as const,
      ...(model !== undefined && { model }),
    };
    const options = { timeoutMs, ...(signal && { signal }), ...(parent && { parent }) };
    const answer = await models.createEmbeddings({ body }, options).catch(refuse);
    for (const { embedding } of answer.data) vectors.push(readVector(embedding, answer.dimensions));
    const tokens = found.tokens + answer.usage.prompt_tokens;
    found = { model: answer.model, dimensions: answer.dimensions, tokens };
  }
  if (vectors.length !== texts.length) throw broken('the embedder left texts out');
  return { ...found, vectors };
}

function refuse(error: unknown): never {
  const fault = Fault.from(error);
  const { code, message, retryAfter = 1 } = fault;
  if (code === 'cancelled') throw fault;
  if (code === 'deadline') {
    throw new Fault(code, 'the model did not answer in time', {
      reason: 'model_timeout',
      cause: fault,
    });
  }
  if (code === 'not_found' || code === 'invalid') {
    const reason = code === 'not_found' ? 'model_not_found' : 'embedding_refused';
    throw new Fault(code, message, { reason, cause: fault });
  }
  throw new Fault('unavailable', 'the texts could not be embedded', {
    reason: 'embedder_unavailable',
    retryAfter,
    cause: fault,
  });
}

function readVector(embedding: string | readonly number[], dimensions: number): Float32Array {
  const vector =
    typeof embedding === 'string'
      ? fromBytes(Buffer.from(embedding, 'base64'))
      : Float32Array.from(embedding);
  if (vector.length !== dimensions || dimensions === 0)
    throw broken('the embedder answered no vector');
  return normalise(vector);
}

/** Scales a vector to length 1, in place; one without direction stays zero. */
function normalise(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  if (!Number.isFinite(length)) throw broken('the embedder answered what are no numbers');
  if (length === 0 || Math.abs(length - 1) < 1e-6) return vector;
  return vector.map((value) => value / length);
}

/** A vector as it is stored: 32-bit floats, little-endian. */
export function toBytes({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A stored vector. */
export function fromBytes(bytes: Buffer): Float32Array {
  // A copy, because floats must begin at a multiple of four bytes.
  return new Float32Array(Uint8Array.from(bytes).buffer, 0, Math.floor(bytes.length / 4));
}

function broken(message: string): Fault {
  return new Fault('unavailable', message, { reason: 'embedder_unavailable' });
}

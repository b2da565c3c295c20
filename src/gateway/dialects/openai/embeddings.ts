import type { EmbeddingDialect } from '../dialect.ts';
import { UpstreamError } from '../upstream-error.ts';
import { errorInside } from './answer.ts';
import { isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import { countIn } from './count-in.ts';
import { usageIn } from './usage.ts';

/** OpenAI's `/embeddings`. Vectors are asked for as numbers, which every server knows. */
export const openAiEmbeddings: EmbeddingDialect = {
  unsupported: () => undefined,
  write: ({ input, dimensions, extras }, model) => ({
    path: '/embeddings',
    body: {
      ...extras,
      model,
      input,
      ...(dimensions !== undefined && { dimensions }),
      encoding_format: 'float',
    },
  }),
  read(body, request) {
    if (!isRecord(body)) throw broken('the provider sent no JSON object');
    const error = errorInside(body);
    if (error) throw error;
    const data = listIn(body['data']);
    if (data.length !== request.input.length) throw broken('the provider left out vectors');
    const vectors: (readonly number[])[] = [];
    for (const [position, item] of data.entries()) {
      const { index, embedding } = recordIn(item);
      vectors[countIn(index) ?? position] = readVector(embedding);
    }
    const isWhole = vectors.length === data.length && !vectors.includes(missing);
    if (!isWhole) throw broken('the provider sent vectors of other inputs');
    return {
      model: textIn(body['model']) ?? request.model,
      vectors,
      inputTokens: usageIn(body)?.inputTokens ?? 0,
    };
  },
};

// A list with holes reads as undefined, which `includes` finds.
const missing = undefined as unknown as readonly number[];

function readVector(value: unknown): readonly number[] {
  const isVector = Array.isArray(value) && value.length > 0 && value.every(isNumber);
  if (isVector) return value;
  if (typeof value === 'string' && value !== '') return readBase64(value);
  throw broken('the provider sent a vector that is none');
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

/** 32-bit floats, little-endian: some servers send them whatever was asked for. */
function readBase64(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64');
  const count = Math.floor(bytes.length / 4);
  return Array.from({ length: count }, (_, at) => bytes.readFloatLE(at * 4));
}

function broken(message: string): UpstreamError {
  return UpstreamError.of('broken', message);
}

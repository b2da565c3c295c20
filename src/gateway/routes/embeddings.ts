import type { Handlers } from '../../kit/http/call.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { gatewayContract } from '../contract.ts';
import type { GatewayParts } from '../parts.ts';
import { automaticModel } from '../routing/router.ts';
import type { EmbeddingBody } from '../schemas/other-faces.ts';
import { passedFields } from './passed-fields.ts';
import { tellErrand, toErrand } from './provenance.ts';

type EmbeddingHandlers = Pick<Handlers<typeof gatewayContract>, 'embeddings'>;

/** The route that turns texts into vectors. */
export function embeddingHandlers({
  embeddings,
}: Pick<GatewayParts, 'embeddings'>): EmbeddingHandlers {
  return {
    embeddings: async (call) => {
      const { body } = call;
      const brought = await embeddings.run(toErrand(call, toEmbeddingRequest(body)));
      tellErrand(call, brought);
      const { made } = brought;
      return new WrittenJson({
        object: 'list',
        data: made.vectors.map((vector, index) => ({
          object: 'embedding',
          index,
          embedding: body.encoding_format === 'base64' ? toBase64(vector) : vector,
        })),
        model: made.model,
        usage: { prompt_tokens: made.inputTokens, total_tokens: made.inputTokens },
      });
    },
  };
}

function toEmbeddingRequest({ model = automaticModel, input, dimensions, ...rest }: EmbeddingBody) {
  // Answered here, whatever the provider sends.
  const { encoding_format: _, ...extras } = passedFields(rest, 'embeddings');
  return { model, input: toInputs(input), dimensions, extras };
}

function toInputs(input: EmbeddingBody['input']): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [input];
  const isTokens = typeof input[0] === 'number';
  // The schema allows lists of one kind only.
  return isTokens ? [input as number[]] : (input as string[] | number[][]);
}

/** Little-endian floats of 32 bits, as OpenAI's clients ask for by default. */
function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

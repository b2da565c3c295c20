import { Type, type Static } from 'typebox';
import { nullable } from '../optional-fields.ts';
import { samplingFields, TokenCount, Usage } from './chat-schemas.ts';

const Text = Type.String();

/** A text completion as OpenAI's older API words it. */
export const TextRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 })),
    prompt: Type.Union([Text, Type.Array(Type.Unknown(), { minItems: 1, maxItems: 65_536 })], {
      description: 'a text, or a list of one text',
    }),
    max_tokens: nullable(TokenCount),
    echo: nullable(Type.Boolean()),
    ...samplingFields,
  },
  // What a model does not know is refused by name, so it must be seen.
  { $id: 'TextRequest', additionalProperties: true },
);
export type TextRequest = Static<typeof TextRequest>;

const FinishReason = Type.Enum(['stop', 'length']);

/** The whole of a text completion, or one chunk of it. */
export const TextCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('text_completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        text: Text,
        index: Type.Integer(),
        logprobs: Type.Null(),
        finish_reason: Type.Union([FinishReason, Type.Null()]),
      }),
    ),
    usage: Type.Optional(Type.Union([Usage, Type.Null()])),
  },
  { $id: 'TextCompletion' },
);
export type TextCompletion = Static<typeof TextCompletion>;

/** Texts to be turned into vectors. */
export const EmbeddingRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 })),
    input: Type.Union([Text, Type.Array(Type.Unknown(), { minItems: 1, maxItems: 2048 })], {
      description: 'a text, or a list of texts',
    }),
    encoding_format: nullable(Type.Enum(['float', 'base64'])),
    dimensions: nullable(
      Type.Integer({ minimum: 1, description: 'only the number that the model has' }),
    ),
  },
  { $id: 'EmbeddingRequest' },
);
export type EmbeddingRequest = Static<typeof EmbeddingRequest>;

export const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer(),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
          description: 'numbers, or the base64 of 32-bit floats, little-endian',
        }),
      }),
    ),
    model: Type.String(),
    dimensions: Type.Integer(),
    normalised: Type.Boolean({ description: 'whether each vector has length 1' }),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  },
  { $id: 'EmbeddingList' },
);
export type EmbeddingList = Static<typeof EmbeddingList>;

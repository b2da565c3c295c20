import { Type, type Static } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { nullable } from './completions.ts';

const imagesMax = 10;
const Word = Type.String({ minLength: 1, maxLength: 64 });

/** OpenAI's image request; fields that it does not name are taken too, as of chats. */
export const ImageBody = Type.Object(
  {
    model: nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'a model, `<provider>/<model>`, or `auto-route` (the default) for the cheapest that makes images',
      }),
    ),
    prompt: Type.String({ minLength: 1, maxLength: 32_000 }),
    n: nullable(Type.Integer({ minimum: 1, maximum: imagesMax })),
    size: nullable(Type.Union([Word], { description: '`<width>x<height>` in pixels, or `auto`' })),
    quality: nullable(Word),
    style: nullable(Word),
    background: nullable(Word),
    moderation: nullable(Word),
    output_format: nullable(Word),
    output_compression: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
    response_format: nullable(Type.Enum(['url', 'b64_json'])),
    user: nullable(Type.String({ maxLength: 1_024 })),
  },
  { $id: 'ImageRequest', additionalProperties: true },
);
export type ImageBody = Static<typeof ImageBody>;

const Image = Type.Object(
  {
    url: Type.Optional(Type.String({ description: "the provider's, for as long as it keeps it" })),
    b64_json: Type.Optional(Type.String({ description: 'base64' })),
    revised_prompt: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

const counts = {
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
};

const answer = {
  created: Type.Integer({ description: 'Unix seconds' }),
  data: Type.Array(Image, { description: 'each has `url` or `b64_json`' }),
};

const ImageList = Type.Object(
  {
    ...answer,
    usage: Type.Optional(
      Type.Object(counts, {
        additionalProperties: true,
        description: 'where the provider counts tokens',
      }),
    ),
  },
  { $id: 'ImageList', additionalProperties: true },
);

const TracedImageList = Type.Object(
  {
    ...answer,
    model: Type.String(),
    provider: Type.String(),
    usage: Type.Object(
      { ...counts, cost: Type.Number({ description: 'US dollars' }) },
      { additionalProperties: true, description: 'estimated where the provider counts no tokens' },
    ),
  },
  { $id: 'TracedImageList', additionalProperties: true },
);

/** OpenAI's Images API. */
export const imageRoutes = {
  images: {
    method: 'POST',
    url: '/api/v1/images/generations',
    summary: 'Make images, and say who made them and what they cost',
    schema: { body: ImageBody, response: { 200: TracedImageList } },
  },
  openAiImages: {
    method: 'POST',
    url: '/v1/images/generations',
    summary: "Make images, for OpenAI's clients",
    schema: { body: ImageBody, response: { 200: ImageList } },
  },
} as const satisfies Readonly<Record<string, Route>>;

import { Type } from 'typebox';
import { findEmbedder } from '../embedding/with-embedder.ts';
import { promptLengthMax } from './generate.ts';
import { defineTool } from './tool.ts';

const Text = Type.String({
  maxLength: promptLengthMax,
  pattern: '\\S',
  description: 'a text that is not blank',
});
const Vector = Type.Array(Type.Number());

export const embed = defineTool({
  name: 'embed',
  title: 'Embed texts',
  description: 'Turns a text, or each of several, into a vector that is near those of like texts.',
  inputSchema: Type.Object({
    prompt: Type.Union([Text, Type.Array(Text, { minItems: 1, maxItems: 2048 })], {
      description: 'a text, or several for one vector each',
    }),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'name of an embedding model; the built-in one when absent',
      }),
    ),
  }),
  outputSchema: Type.Object({
    output: Type.Union([Vector, Type.Array(Vector)], {
      description: 'one vector for one text, a list of vectors for several',
    }),
    model: Type.String(),
    dimensions: Type.Integer(),
    isNormalised: Type.Boolean({ description: 'whether every vector has length 1' }),
    usage: Type.Object({ promptTokens: Type.Integer() }),
  }),
  run: async ({ prompt, model: name }, { inference, caller }) => {
    const model = await findEmbedder(inference, name);
    const texts = typeof prompt === 'string' ? [prompt] : prompt;
    const { vectors, dimensions, isNormalised, tokens } = await inference.embed(
      model,
      texts,
      caller,
    );
    const lists = vectors.map((vector) => Array.from(vector));
    const [first = []] = lists;
    return {
      output: typeof prompt === 'string' ? first : lists,
      model: model.name,
      dimensions,
      isNormalised,
      usage: { promptTokens: tokens },
    };
  },
});

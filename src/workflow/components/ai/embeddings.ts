import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import { embedTexts, type EmbeddingsClient } from '../../../kit/vectors/embed-texts.ts';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import { textOf, textSetting } from './text-setting.ts';

const vector = Type.Array(Type.Number());

/** Turns texts into vectors, through the models service. */
export function createEmbeddings(models: EmbeddingsClient): Component {
  return defineComponent({
    name: 'Embeddings',
    group: 'ai',
    title: 'Embeddings',
    description:
      'Turns a text, or several, into vectors of length 1 whose dot product says how close their meanings are. One of `text` and `texts` is needed.',
    input: Type.Object(
      {
        text: Type.Optional(textSetting('a text')),
        texts: Type.Optional(Type.Array(textSetting('a text'), { minItems: 1, maxItems: 256 })),
        model: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: 'of the models service; the embedder that comes with it when absent',
          }),
        ),
      },
      { examples: [{ text: '{{ page.body }}' }] },
    ),
    output: Type.Object({
      vector: Type.Array(Type.Number(), { description: 'of the text, or of the first' }),
      vectors: Type.Optional(Type.Array(vector, { description: 'where `texts` were given' })),
      dimensions: Type.Integer(),
      model: Type.String(),
    }),
    effect: 'none',
    typicalMs: 50,
    run: async ({ text, texts, model }, context) => {
      if ((text === undefined) === (texts === undefined)) {
        const message = 'one of text and texts is needed, and not both';
        throw new Fault('invalid', message, { reason: 'bad_setting' });
      }
      const given = (texts ?? [text]).map(textOf);
      const options = { texts: given, model, ...callOptions(context) };
      const { vectors, tokens, ...embedding } = await embedTexts(models, options);
      const numbers = vectors.map((one) => Array.from(one));
      const output = { vector: numbers[0], ...(texts && { vectors: numbers }), ...embedding };
      const usage = { model: embedding.model, promptTokens: tokens, completionTokens: 0, cost: 0 };
      return { kind: 'done', output, usage };
    },
  });
}

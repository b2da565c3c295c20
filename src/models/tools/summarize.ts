import { Type } from 'typebox';
import { generateWhole, generationFields, ModelName } from './generation.ts';
import { promptLengthMax } from './generate.ts';
import { defineTool } from './tool.ts';

const wordsDefault = 100;
/** English words take 1.3 tokens on average; other languages take more. */
const tokensPerWord = 3;
/** One word may take that many. */
const tokensMin = 24;

export const summarize = defineTool({
  name: 'summarize',
  title: 'Summarize a text',
  description: 'Says the essence of a text in few words with a local model.',
  inputSchema: Type.Object({
    prompt: Type.String({
      minLength: 1,
      maxLength: promptLengthMax,
      description: 'the text; one beyond the context of the model is refused, never cut',
    }),
    model: Type.Optional(ModelName),
    maxWords: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2000,
        description:
          `the summary never has more words; default ${wordsDefault}; of so few that no sentence ` +
          'fits, the first words of one',
      }),
    ),
  }),
  outputSchema: Type.Object({
    output: Type.String(),
    model: Type.String(),
    ...generationFields,
  }),
  run: async ({ prompt, maxWords = wordsDefault, ...input }, context) => {
    const model = await context.inference.find(input.model, context);
    const limit = maxWords === 1 ? 'one word' : `at most ${maxWords} words`;
    const order = `Answer with the summary only, in ${limit}.`;
    const request = {
      prompt: {
        messages: [
          { role: 'system', content: order } as const,
          { role: 'user', content: `Summarize this text: ${prompt}` } as const,
        ],
      },
      maxTokens: Math.max(tokensMin, maxWords * tokensPerWord),
      temperature: 0,
    };
    const { text, end } = await generateWhole(model, request, context);
    const output = firstWords(text.trim(), maxWords);
    const isCut = output.length < text.trim().length;
    const finishReason = isCut ? 'length' : end.finishReason;
    return { output, model: model.name, finishReason, usage: end.usage };
  },
});

/** The text up to its word of that number, with the white space between as it was. */
function firstWords(text: string, count: number): string {
  const words = [...text.matchAll(/\S+/g)];
  const last = words[count - 1];
  return last && words.length > count ? text.slice(0, last.index + last[0].length) : text;
}

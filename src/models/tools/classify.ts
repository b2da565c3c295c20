import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../kit/errors.ts';
import type { ModelInfo } from '../inference/inference.ts';
import type { JsonSchema } from '../inference/request.ts';
import { generateWhole, ModelName, UsageSchema } from './generation.ts';
import { promptLengthMax } from './generate.ts';
import { defineTool } from './tool.ts';

const labelLengthMax = 128;

export const classify = defineTool({
  name: 'classify',
  title: 'Classify a text',
  description: 'Says which of the given labels fits a text best, by a local model.',
  inputSchema: Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: promptLengthMax, description: 'the text' }),
    labels: Type.Array(Type.String({ minLength: 1, maxLength: labelLengthMax }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'the answer is one of these, letter by letter',
    }),
    model: Type.Optional(ModelName),
  }),
  outputSchema: Type.Object({
    output: Type.String({ description: 'one of the labels' }),
    model: Type.String(),
    usage: UsageSchema,
  }),
  run: async ({ prompt, labels, ...input }, context) => {
    const model = await context.inference.find(input.model, context);
    const order = `Label this text with one of ${labels.join(', ')}: ${prompt}`;
    const request = {
      prompt: { messages: [{ role: 'user', content: order } as const] },
      format: { type: 'json', schema: schemaOf(labels, model) } as const,
      temperature: 0,
    };
    const { text, end } = await generateWhole(model, request, context);
    return { output: labelOf(text, labels), model: model.name, usage: end.usage };
  },
});

/** Small models do best with as little around the label as can be; OpenAI's API wants an object. */
function schemaOf(labels: readonly string[], { runtime }: ModelInfo): JsonSchema {
  const label = { type: 'string', enum: labels };
  if (runtime === 'local') return label;
  return {
    type: 'object',
    properties: { label },
    required: ['label'],
    additionalProperties: false,
  };
}

const Labelled = Type.Object({ label: Type.String() });

/** The label that the model wrote; an external runtime may not have kept to the schema. */
function labelOf(text: string, labels: readonly string[]): string {
  const value = parseJson(text);
  const label = Value.Check(Labelled, value) ? value.label : value;
  if (typeof label === 'string' && labels.includes(label)) return label;
  throw new Fault('upstream', 'the model did not answer with one of the labels');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

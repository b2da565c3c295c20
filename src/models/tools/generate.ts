import { Type } from 'typebox';
import type { ChatMessage } from '../inference/request.ts';
import {
  AnswerFormat,
  formatOf,
  generateWhole,
  generationFields,
  GenerateOptions,
  ModelName,
} from './generation.ts';
import { defineTool } from './tool.ts';

/** Longest text that a tool takes; the model's context is the tighter limit. */
export const promptLengthMax = 4 * 1024 * 1024;

export const generate = defineTool({
  name: 'generate',
  title: 'Generate text',
  description: 'Answers a prompt with a local model.',
  inputSchema: Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: promptLengthMax }),
    model: Type.Optional(ModelName),
    system: Type.Optional(
      Type.String({ maxLength: promptLengthMax, description: 'what the model should be or heed' }),
    ),
    raw: Type.Optional(
      Type.Boolean({ description: 'continue the prompt as it stands, without a chat template' }),
    ),
    format: Type.Optional(AnswerFormat),
    options: Type.Optional(GenerateOptions),
  }),
  outputSchema: Type.Object({
    output: Type.String(),
    model: Type.String(),
    ...generationFields,
  }),
  run: async ({ prompt, system, raw, ...input }, context) => {
    const model = await context.inference.find(input.model, {
      caller: context.caller,
      deadlineMs: input.options?.deadlineMs,
    });
    const messages: ChatMessage[] = [
      ...(system === undefined ? [] : [{ role: 'system', content: system } as const]),
      { role: 'user', content: prompt },
    ];
    const text = system === undefined ? prompt : `${system}\n${prompt}`;
    const request = {
      ...input.options,
      ...formatOf(input.format),
      prompt: raw ? { text } : { messages },
    };
    const generated = await generateWhole(model, request, context);
    const { finishReason, usage } = generated.end;
    return { output: generated.text, model: model.name, finishReason, usage };
  },
});

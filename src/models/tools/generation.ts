import { Type, type Static } from 'typebox';
import type { ModelInfo } from '../inference/inference.ts';
import type { GenerateEnd, GenerateRequest, ToolCall } from '../inference/request.ts';
import type { ToolContext } from './tool.ts';

/** A name as callers write it; the default model where there is none. */
export const ModelName = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'name of an installed model; the default model when absent',
});

/** How to sample. */
export const GenerateOptions = Type.Object({
  maxTokens: Type.Optional(Type.Integer({ minimum: 1, description: 'longest answer, in tokens' })),
  temperature: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 2,
      description: '0 takes the likeliest token; default 0.8',
    }),
  ),
  topP: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'default 0.95' }),
  ),
  topK: Type.Optional(
    Type.Integer({ minimum: 0, description: '0 takes the whole vocabulary; default 40' }),
  ),
  minP: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'default 0' })),
  repeatPenalty: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 10,
      description: 'of the last 64 tokens; default 1',
    }),
  ),
  frequencyPenalty: Type.Optional(
    Type.Number({ minimum: -2, maximum: 2, description: 'default 0' }),
  ),
  presencePenalty: Type.Optional(
    Type.Number({ minimum: -2, maximum: 2, description: 'default 0' }),
  ),
  seed: Type.Optional(Type.Integer({ description: 'repeats an answer; random when absent' })),
  stop: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 16,
      description: 'the answer ends before the first of these',
    }),
  ),
  deadlineMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 86_400_000,
      description: 'gives up after so many milliseconds; never more than the service allows',
    }),
  ),
});

/** An object of any fields. */
export const AnyObject = Type.Unsafe<Readonly<Record<string, unknown>>>(
  Type.Object({}, { additionalProperties: true }),
);

/** Any JSON, or JSON of a schema; the model cannot write anything else. */
export const AnswerFormat = Type.Union([Type.Literal('json'), AnyObject], {
  description: '`json` for any JSON, or a JSON schema that the answer must satisfy',
});

/** What a generation took. */
export const UsageSchema = Type.Object({
  promptTokens: Type.Integer(),
  completionTokens: Type.Integer(),
  cachedPromptTokens: Type.Optional(
    Type.Integer({ description: 'of the prompt, remembered from an earlier one of this caller' }),
  ),
});

/** Why a generation ended, and what it took. */
export const generationFields = {
  finishReason: Type.Union([
    Type.Literal('stop'),
    Type.Literal('length'),
    Type.Literal('tool-calls'),
  ]),
  usage: UsageSchema,
};

/** The format as the inference layer takes it; nothing where none is asked for. */
export function formatOf(
  format: Static<typeof AnswerFormat> | undefined,
): Pick<GenerateRequest, 'format'> {
  if (format === undefined) return {};
  if (format === 'json') return { format: { type: 'json' } };
  return { format: { type: 'json', schema: format } };
}

export interface Generated {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly end: GenerateEnd;
}

/** At most so often does a caller learn how far the answer is. */
const reportEveryMs = 100;

/** Runs a generation to its end, telling how many pieces of text there are so far. */
export async function generateWhole(
  model: ModelInfo,
  request: GenerateRequest,
  { inference, caller, report }: ToolContext,
): Promise<Generated> {
  const toolCalls: ToolCall[] = [];
  const total = request.maxTokens === undefined ? {} : { total: request.maxTokens };
  let text = '';
  let pieces = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  for await (const event of inference.generate(model, request, caller)) {
    if (event.type === 'end') return { text, toolCalls, end: event };
    if (event.type === 'tool-call') toolCalls.push(event.call);
    else if (event.type === 'text') text += event.text;
    pieces += 1;
    const now = performance.now();
    if (now - reportedAt < reportEveryMs) continue;
    reportedAt = now;
    report({ progress: pieces, ...total });
  }
  throw new Error('a generation ended without its end event');
}

import type { GenerateEnd, GenerateEvent, GenerateRequest } from '../inference/request.ts';
import { present } from '../optional-fields.ts';
import { invalidField, unsupported } from '../unsupported.ts';
import { headOf, usageOf } from './answers.ts';
import { ofTooLong } from './faults.ts';
import type { Asked } from './chat.ts';
import { toSampling } from './sampling.ts';
import type { TextCompletion, TextRequest } from './text-schemas.ts';
import { refuseUnsupported } from './unsupported-fields.ts';

/** What OpenAI's API says when the caller does not. */
const maxTokensDefault = 16;

/** Continues a text and answers it whole. */
export async function completeText(body: TextRequest, asked: Asked): Promise<TextCompletion> {
  const prompt = readPrompt(body);
  let text = body.echo ? prompt : '';
  for await (const event of generate(body, asked)) {
    if (event.type === 'text') text += event.text;
    else if (event.type === 'end') {
      const choices = [choiceOf(text, finishReasonOf(event))];
      return {
        ...headOf('text_completion', 'cmpl', asked.model),
        choices,
        usage: usageOf(event.usage),
      };
    }
  }
  throw new Error('a generation ended without its end event');
}

/** Continues a text chunk by chunk, as OpenAI's streams do. */
export async function* streamText(body: TextRequest, asked: Asked): AsyncGenerator<TextCompletion> {
  const withUsage = Boolean(body.stream_options?.include_usage);
  const head = headOf('text_completion', 'cmpl', asked.model);
  const base = withUsage ? { ...head, usage: null } : head;
  let isFirst = true;
  for await (const event of generate(body, asked)) {
    if (isFirst && body.echo) yield { ...base, choices: [choiceOf(readPrompt(body), null)] };
    isFirst = false;
    if (event.type === 'text') yield { ...base, choices: [choiceOf(event.text, null)] };
    else if (event.type === 'end') {
      yield { ...base, choices: [choiceOf('', finishReasonOf(event))] };
      if (withUsage) yield { ...head, choices: [], usage: usageOf(event.usage) };
    }
  }
}

async function* generate(
  body: TextRequest,
  { inference, model, caller }: Asked,
): AsyncGenerator<GenerateEvent> {
  try {
    yield* inference.generate(model, toGenerateRequest(body), caller);
  } catch (error) {
    throw ofTooLong(error, 'prompt');
  }
}

function toGenerateRequest(body: TextRequest): GenerateRequest {
  refuseUnsupported(body);
  // Fields beyond the schema come as they were sent; `logprobs: 0` asks for those of the text itself.
  const { logprobs } = body as Record<string, unknown>;
  if (typeof logprobs === 'number' || logprobs === true) throw unsupported('logprobs');
  const maxTokens = body.max_tokens ?? maxTokensDefault;
  return { prompt: { text: readPrompt(body) }, ...toSampling(body), ...present({ maxTokens }) };
}

function readPrompt({ prompt }: TextRequest): string {
  if (typeof prompt === 'string') return prompt;
  const [text, ...others] = prompt;
  if (typeof text !== 'string') throw unsupported('prompt', 'prompt as tokens');
  if (others.length > 0) throw invalidField('prompt', 'must be one text; send a request for each');
  return text;
}

function choiceOf(text: string, reason: 'stop' | 'length' | null) {
  return { text, index: 0, logprobs: null, finish_reason: reason };
}

function finishReasonOf({ finishReason }: GenerateEnd) {
  return finishReason === 'length' ? 'length' : 'stop';
}

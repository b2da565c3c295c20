import type { Usage } from '../component.ts';
import { SpentFault } from '../spent-fault.ts';
import { flawOf } from './answer-schema.ts';

/** Models like to put their JSON in a fence. */
const fence = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/;

export interface JsonAnswer {
  /** `json`, or the JSON Schema that was asked for. */
  readonly responseFormat: string | object;
  readonly finishReason: string;
  readonly usage: Usage;
}

/**
 * The JSON of a model's answer. Throws `upstream` (`answer_not_json`, `answer_does_not_fit`), since another
 * attempt may well do better, and `invalid` (`answer_cut`) where it cannot.
 */
export function readJson(
  text: string,
  { responseFormat, finishReason, usage }: JsonAnswer,
): unknown {
  const json = parse(text, { finishReason, usage });
  const flaw = typeof responseFormat === 'object' ? flawOf(json, responseFormat) : undefined;
  if (flaw === undefined) return json;
  const message = `the answer of the model does not fit the schema: ${flaw}`;
  throw new SpentFault('upstream', message, { reason: 'answer_does_not_fit', usage });
}

function parse(text: string, { finishReason, usage }: Omit<JsonAnswer, 'responseFormat'>): unknown {
  try {
    return JSON.parse(fence.exec(text)?.[1] ?? text);
  } catch (cause) {
    if (finishReason === 'length') {
      const message = 'the answer was cut before its JSON was complete: maxTokens is too low';
      throw new SpentFault('invalid', message, { reason: 'answer_cut', cause, usage });
    }
    const message = 'the model did not answer JSON';
    throw new SpentFault('upstream', message, { reason: 'answer_not_json', cause, usage });
  }
}

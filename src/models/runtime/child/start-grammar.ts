import { Fault } from '../../../kit/errors.ts';
import { Grammar } from '../llama/grammar.ts';
import type { Model } from '../llama/model.ts';

/** The start of a grammar; Fault `invalid` when llama.cpp finds it too large. */
export function startGrammar(model: Model, text: string): Grammar {
  const grammar = Grammar.start(model, text);
  if (grammar) return grammar;
  const reason = 'unsupported_schema';
  throw new Fault('invalid', 'no grammar can be made of this JSON schema', { reason });
}

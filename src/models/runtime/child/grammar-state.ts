import { LlamaGrammarEvaluationState, type Llama, type LlamaModel } from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';

export interface GrammarOwner {
  readonly llama: Llama;
  readonly model: LlamaModel;
}

/** The start of a grammar; Fault `invalid` when llama.cpp finds it too large. */
export async function startGrammar(
  { llama, model }: GrammarOwner,
  text: string,
): Promise<LlamaGrammarEvaluationState> {
  try {
    const grammar = await llama.createGrammar({ grammar: text });
    return new LlamaGrammarEvaluationState({ model, grammar });
  } catch (error) {
    const options = { cause: error, reason: 'unsupported_schema' };
    throw new Fault('invalid', 'no grammar can be made of this JSON schema', options);
  }
}

import {
  LlamaText,
  SpecialToken,
  SpecialTokensText,
  type ChatHistoryItem,
  type ChatWrapper,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import type { ChatMessage, Prompt } from './request.ts';

export interface PreparedPrompt {
  readonly tokens: Token[];
  /** What ends an answer in this model's chat format, besides its end-of-generation tokens. */
  readonly stopTokens: ReadonlySet<Token>;
  readonly stopTexts: readonly string[];
}

/**
 * Tokenizes a prompt and puts the begin mark first where the model wants one. Text of the caller
 * never becomes a control token, so nobody can forge a turn.
 */
export function preparePrompt(
  model: LlamaModel,
  wrapper: ChatWrapper,
  prompt: Prompt,
): PreparedPrompt {
  if ('text' in prompt) {
    const tokens = withBegin(model, model.tokenize(prompt.text));
    return { tokens, stopTokens: new Set(), stopTexts: [] };
  }
  const chatHistory = toHistory(prompt.messages);
  const { contextText, stopGenerationTriggers } = wrapper.generateContextState({ chatHistory });
  const tokens = withBegin(model, contextText.tokenize(model.tokenizer));
  return { tokens, ...readStops(model, stopGenerationTriggers) };
}

/** The last turn is the assistant's: a new one, or the given one to be continued. */
function toHistory(messages: readonly ChatMessage[]): ChatHistoryItem[] {
  const history = messages.map(toHistoryItem);
  if (messages.at(-1)?.role !== 'assistant') history.push({ type: 'model', response: [] });
  return history;
}

function toHistoryItem({ role, content }: ChatMessage): ChatHistoryItem {
  if (role === 'assistant') return { type: 'model', response: [content] };
  return { type: role, text: content };
}

function withBegin(model: LlamaModel, tokens: Token[]): Token[] {
  const { bos, shouldPrependBosToken } = model.tokens;
  if (!shouldPrependBosToken || bos === null || tokens[0] === bos) return tokens;
  return [bos, ...tokens];
}

function readStops(model: LlamaModel, triggers: readonly LlamaText[]) {
  const stopTokens = new Set<Token>();
  const stopTexts: string[] = [];
  for (const trigger of triggers) {
    const isText = trigger.values.every((value) => typeof value === 'string');
    const [token, ...others] = isText ? [] : readTokens(model, trigger);
    if (token !== undefined && others.length === 0) stopTokens.add(token);
    else if (!trigger.values.some((value) => value instanceof SpecialToken))
      stopTexts.push(trigger.toString());
  }
  return { stopTokens, stopTexts: stopTexts.filter((text) => text !== '') };
}

function readTokens(model: LlamaModel, trigger: LlamaText): Token[] {
  return trigger.values.flatMap((value) => {
    if (value instanceof SpecialToken || value instanceof SpecialTokensText)
      return value.tokenize(model.tokenizer);
    return model.tokenize(value);
  });
}

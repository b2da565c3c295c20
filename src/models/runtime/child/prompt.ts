import {
  LlamaText,
  SpecialToken,
  SpecialTokensText,
  type ChatWrapper,
  type ChatWrapperGenerateContextStateOptions,
  type Token,
} from 'node-llama-cpp';
import { Fault } from '../../../kit/errors.ts';
import type { ChatMessage } from '../../inference/request.ts';
import { runBounded, templateMsDefault } from '../bounded.ts';
import { toHistory } from '../history.ts';
import type { Vocabulary } from '../llama/vocabulary.ts';
import type { Work } from '../request.ts';
import { writeToolsAsText } from './plain-tools.ts';
import {
  describeTools,
  knowsTools,
  plainToolFormat,
  readToolFormat,
  type ToolFormat,
} from './tool-format.ts';

export interface PreparedPrompt {
  readonly tokens: Token[];
  /** What ends an answer in this model's chat format, besides its end-of-generation tokens. */
  readonly stopTokens: ReadonlySet<Token>;
  readonly stopTexts: readonly string[];
  /** Undefined when no tool may be called. */
  readonly toolFormat: ToolFormat | undefined;
}

/**
 * Tokenizes a prompt and puts the begin mark first where the model wants one. Text of the caller
 * never becomes a control token, so nobody can forge a turn.
 */
export function preparePrompt(
  vocabulary: Vocabulary,
  wrapper: ChatWrapper,
  work: Work,
): PreparedPrompt {
  const { prompt } = work;
  if ('messages' in prompt) return prepareChat(vocabulary, wrapper, { ...work, ...prompt });
  const tokens = withBegin(vocabulary, vocabulary.tokenize(prompt.text));
  return { tokens, stopTokens: new Set(), stopTexts: [], toolFormat: undefined };
}

function prepareChat(
  vocabulary: Vocabulary,
  wrapper: ChatWrapper,
  { tools, mustCall, messages }: Work & { readonly messages: readonly ChatMessage[] },
): PreparedPrompt {
  const isPlain = !knowsTools(wrapper);
  const availableFunctions = isPlain ? undefined : describeTools(tools);
  const chatHistory = toHistory(isPlain ? writeToolsAsText(messages, tools) : messages);
  const { contextText, stopGenerationTriggers } = render(wrapper, {
    chatHistory,
    ...(availableFunctions && { availableFunctions }),
  });
  const toolFormat = tools.length > 0 ? openToolFormat(vocabulary, wrapper, tools) : undefined;
  const text = toolFormat && mustCall ? LlamaText([contextText, toolFormat.opening]) : contextText;
  const tokens = withBegin(vocabulary, text.tokenize(vocabulary.tokenizer));
  return { tokens, ...readStops(vocabulary, stopGenerationTriggers), toolFormat };
}

function openToolFormat(
  vocabulary: Vocabulary,
  wrapper: ChatWrapper,
  tools: Work['tools'],
): ToolFormat {
  return knowsTools(wrapper) ? readToolFormat(vocabulary, wrapper, tools) : plainToolFormat(tools);
}

/** Some templates refuse chats, for instance those that do not alternate; some do not end. */
function render(wrapper: ChatWrapper, options: ChatWrapperGenerateContextStateOptions) {
  try {
    return runBounded(() => wrapper.generateContextState(options), templateMsDefault);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const message = 'the chat template of the model does not take these messages';
    throw new Fault('invalid', message, { cause: error, detail: { param: 'messages' } });
  }
}

function withBegin({ beginMark: mark }: Vocabulary, tokens: Token[]): Token[] {
  return mark === undefined || tokens[0] === mark ? tokens : [mark, ...tokens];
}

function readStops(vocabulary: Vocabulary, triggers: readonly LlamaText[]) {
  const stopTokens = new Set<Token>();
  const stopTexts: string[] = [];
  for (const trigger of triggers) {
    const isText = trigger.values.every((value) => typeof value === 'string');
    const [token, ...others] = isText ? [] : readTokens(vocabulary, trigger);
    if (token !== undefined && others.length === 0) stopTokens.add(token);
    else if (!trigger.values.some((value) => value instanceof SpecialToken))
      stopTexts.push(trigger.toString());
  }
  return { stopTokens, stopTexts: stopTexts.filter((text) => text !== '') };
}

function readTokens(vocabulary: Vocabulary, trigger: LlamaText): Token[] {
  return trigger.values.flatMap((value) => {
    if (value instanceof SpecialToken || value instanceof SpecialTokensText)
      return value.tokenize(vocabulary.tokenizer);
    return vocabulary.tokenize(value);
  });
}

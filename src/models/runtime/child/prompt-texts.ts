import type { ChatMessage, Prompt } from '../../inference/request.ts';
import type { CallableTool, Work } from '../request.ts';

/** All texts of a request that the model is to read. */
export function textsOf({ prompt, tools }: Pick<Work, 'prompt' | 'tools'>): readonly string[] {
  return [...promptTexts(prompt), ...toolTexts(tools)];
}

/** The texts of a prompt, without the tools, which each model is told of in its own way. */
export function promptTexts(prompt: Prompt): readonly string[] {
  return 'text' in prompt ? [prompt.text] : prompt.messages.flatMap(messageTexts);
}

function messageTexts(message: ChatMessage): readonly string[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [message.content, ...calls.map((call) => JSON.stringify(call.arguments))];
}

function toolTexts(tools: readonly CallableTool[]): readonly string[] {
  const told = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  return told.length === 0 ? [] : [JSON.stringify(told)];
}

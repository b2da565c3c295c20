import type { ChatRequest, Message } from '../conversation/request.ts';

/**
 * `messages` where nothing stands in a conversation besides instructions and empty texts: Anthropic
 * and Gemini answer to nothing less.
 */
export function findSilence({ messages }: ChatRequest): string | undefined {
  const isSpoken = messages.some((message) => message.role !== 'system' && hasWords(message));
  return isSpoken ? undefined : 'messages';
}

function hasWords({ parts }: Message): boolean {
  return parts.some((part) => part.type !== 'text' || part.text !== '');
}

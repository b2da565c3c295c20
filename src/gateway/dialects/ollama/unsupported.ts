import type { ChatRequest, ImagePart, TextPart, UserPart } from '../../conversation/request.ts';
import { findStrict, placeOfPart } from '../refused-places.ts';
import { firstUnsaidInChat } from '../telling-fields.ts';
import { nativeFields } from './request.ts';

/** The first thing that Ollama has no words for. */
export function findUnsupported(request: ChatRequest): string | undefined {
  return (
    findUnsaid(request) ??
    findInMessages(request) ??
    firstUnsaidInChat(request.extras, nativeFields)
  );
}

function findUnsaid(request: ChatRequest): string | undefined {
  const { toolChoice, tools } = request;
  if ((request.choices ?? 1) > 1) return 'n';
  if (toolChoice === 'required' || typeof toolChoice === 'object') return 'tool_choice';
  const isSingle = request.allowsParallelCalls === false && toolChoice !== 'none';
  if (isSingle && tools.length > 0) return 'parallel_tool_calls';
  return findStrict(tools);
}

function findInMessages({ messages }: ChatRequest): string | undefined {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool' && message.name !== undefined) return `messages[${index}].name`;
    if (message.role === 'user') {
      const found = firstOf(message.parts);
      if (found !== undefined) return found;
    } else if (message.role === 'tool') {
      const found = firstOf(message.parts.flatMap(({ content }) => content));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Ollama fetches no image from an address. */
function firstOf(parts: readonly (UserPart | TextPart | ImagePart)[]): string | undefined {
  for (const part of parts) {
    if (part.type === 'audio' || part.type === 'file') return placeOfPart(part);
    if (part.type === 'image' && part.source.kind === 'url') return placeOfPart(part);
  }
  return undefined;
}

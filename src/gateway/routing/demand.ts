import type { ChatRequest } from '../conversation/request.ts';
import type { Capability } from '../providers/provider.ts';

/** A capability that a request cannot do without, and the field that wants it. */
export interface Need {
  readonly capability: Capability;
  readonly param: string;
}

const chatNeed: Need = { capability: 'chat', param: 'model' };
const toolsNeed: Need = { capability: 'tools', param: 'tools' };
const visionNeed: Need = { capability: 'vision', param: 'messages' };
const jsonNeed: Need = { capability: 'json', param: 'response_format' };
const plainNeeds: readonly Need[] = [chatNeed];

/** The capabilities that a request cannot do without. */
export function needsOf(request: ChatRequest): readonly Need[] {
  const { tools, output } = request;
  const isSeeing = hasImage(request);
  if (tools.length === 0 && !output && !isSeeing) return plainNeeds;
  return [
    chatNeed,
    ...(tools.length > 0 ? [toolsNeed] : []),
    ...(isSeeing ? [visionNeed] : []),
    ...(output ? [jsonNeed] : []),
  ];
}

/** Whether the request says that the model is to think, more than the least. */
export function wantsReasoning({ reasoning }: ChatRequest): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none' && reasoning.effort !== 'minimal';
}

function hasImage({ messages }: ChatRequest): boolean {
  for (const { role, parts } of messages) {
    if (role !== 'user' && role !== 'tool') continue;
    for (const part of parts) {
      if (part.type === 'image') return true;
      if (part.type === 'tool-result' && part.content.some(({ type }) => type === 'image')) {
        return true;
      }
    }
  }
  return false;
}

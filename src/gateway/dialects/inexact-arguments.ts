import type { ChatRequest } from '../conversation/request.ts';
import { isHeldByDoubles } from './exact-json.ts';

/**
 * `arguments` where a call of the conversation has a number that a double does not hold: where the
 * client says them, or an upstream takes them, as an object, the upstream would be told of another
 * call than the one that was made.
 */
export function findInexactArguments({ messages }: ChatRequest): string | undefined {
  for (const { role, parts } of messages) {
    if (role !== 'assistant') continue;
    for (const part of parts)
      if (part.type === 'tool-call' && !isHeldByDoubles(part.arguments)) return 'arguments';
  }
  return undefined;
}

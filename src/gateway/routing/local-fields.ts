import type { ChatRequest } from '../conversation/request.ts';
import { firstUnsaidInChat } from '../dialects/telling-fields.ts';

/** Beyond what every provider is told, the models service knows these, and answers alike without. */
const known: ReadonlySet<string> = new Set([
  'min_p',
  'repeat_penalty',
  'stream_options.include_obfuscation',
]);

/**
 * The first field of a request that would change the answer and that the suite's own models service
 * leaves out without a word or refuses. `false` asks for nothing, thoughts
 * neither: no model there thinks.
 */
export function findLostLocally({ extras, choices = 1 }: ChatRequest): string | undefined {
  if (choices > 1) return 'n';
  if (firstUnsaidInChat(extras, known) === undefined) return undefined;
  const asking = Object.entries(extras).filter(([, value]) => value !== false);
  return firstUnsaidInChat(Object.fromEntries(asking), known);
}

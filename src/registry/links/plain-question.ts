import { isOfOtherEra } from './link-faults.ts';
import type { ExchangeOptions } from './link.ts';
import type { McpLink } from './mcp-link.ts';

/** A server takes no longer to say whether it understands us at all. */
const plainAnswerMs = 5_000;

/** Whether the server answers the plainest of questions. */
export async function isUnderstood(
  link: McpLink,
  { signal, timeoutMs = plainAnswerMs }: ExchangeOptions = {},
): Promise<boolean> {
  const { era } = link.server;
  try {
    await link.probe({ signal, timeoutMs: Math.min(timeoutMs, plainAnswerMs) });
    return true;
  } catch (error) {
    return !isOfOtherEra(error, { era, isProbe: true });
  }
}

import type { Egress } from '../../kit/egress/egress.ts';
import { codes, Fault } from '../../kit/errors.ts';
import { readRetryAfter } from '../../kit/time/retry-after.ts';
import type { Severity } from './alert.ts';
import type { Message } from './message.ts';
import type { Sending } from './sending.ts';

export interface SlackPost {
  readonly webhook: string;
  readonly channel?: string | undefined;
  readonly severity: Severity;
  readonly message: Message;
  readonly signal: AbortSignal;
}

const timeoutMs = 10_000;
const answerBytesMax = 64 * 1024;

/** Posts to an incoming webhook of Slack, or of whatever speaks its dialect; never rejects. */
export async function postToSlack(egress: Egress, post: SlackPost): Promise<Sending> {
  try {
    const { status, headers, body } = await egress.fetch(post.webhook, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payloadOf(post)),
      timeoutMs,
      responseBytesMax: answerBytesMax,
      // The address is a secret, and the message belongs to whoever it names.
      isRedirectFollowed: false,
      signal: post.signal,
    });
    if (status >= 200 && status < 300) return { state: 'sent' };
    return {
      state: 'failed',
      reason: `the webhook answered ${status}${wordsOf(body)}`,
      isWorthRetrying: status >= 500 || passingStatuses.has(status),
      retryAfterMs: (readRetryAfter(headers.get('retry-after')) ?? 0) * 1_000,
    };
  } catch (error) {
    const fault = Fault.from(error);
    const isWorthRetrying = codes[fault.code].retryable || fault.code === 'cancelled';
    return { state: 'failed', reason: `the webhook failed: ${fault.message}`, isWorthRetrying };
  }
}

/** Request timeout, too early, too many requests. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

const colors: Readonly<Record<Severity, string>> = {
  info: '#439fe0',
  low: '#439fe0',
  medium: '#daa038',
  warning: '#daa038',
  high: '#e8672b',
  critical: '#d00000',
};
const resolvedColor = '#2eb886';

function payloadOf({ message, channel, severity }: SlackPost): object {
  const { headline, facts, isResolved } = message;
  return {
    text: escapeText(headline),
    ...(channel === undefined ? {} : { channel }),
    attachments: [
      {
        color: isResolved ? resolvedColor : colors[severity],
        fallback: escapeText(headline),
        fields: facts.map(([title, value]) => ({
          title,
          value: escapeText(value),
          short: value.length <= 40,
        })),
      },
    ],
  };
}

/** Slack's three control characters: names must not mention a channel or make a link. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Slack says what it dislikes in a word (`invalid_payload`, `no_service`); nothing else is repeated. */
function wordsOf(body: Buffer): string {
  const word = body.toString('latin1').trim();
  return /^[a-z][a-z_]{1,60}$/.test(word) ? ` (${word})` : '';
}

import type { ErrorAnswer, FailureKind, UpstreamFailure } from '../failure.ts';
import { retryAfterMs } from '../retry-hint.ts';
import { kindOfStatus, refusedMessage } from '../status-kinds.ts';
import { recordIn, textIn } from '../untrusted.ts';

const tooLong = /context length|context window|exceeds.*context|prompt is too long/i;
const busy = /server busy|maximum pending requests/i;
const unknown = /^model .* not found|try pulling it first/i;

/** What an error answer of Ollama's says, `{"error": "…"}`. */
export function readFailure({ status, headers, body }: ErrorAnswer): UpstreamFailure {
  const message = textIn(recordIn(body).error) ?? `the provider answered with status ${status}`;
  const kind = kindOf(status, message);
  const retry = retryAfterMs(headers);
  return {
    kind,
    message: kind === 'refused' ? refusedMessage : message,
    status,
    ...(retry === undefined ? {} : { retryAfterMs: retry }),
  };
}

function kindOf(status: number, message: string): FailureKind {
  if (tooLong.test(message)) return 'too-long';
  if (busy.test(message)) return 'limited';
  return unknown.test(message) ? 'missing' : kindOfStatus(status);
}

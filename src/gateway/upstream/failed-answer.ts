import type { Dialect } from '../dialects/dialect.ts';
import { UpstreamError } from '../dialects/upstream-error.ts';
import { withoutByteOrderMark } from './byte-order-mark.ts';
import type { WholeAnswer } from './whole-answer.ts';

const textMax = 2_000;

/** Throws what an answer other than 2xx says in its dialect. */
export function requireSuccess(dialect: Dialect, answer: WholeAnswer): void {
  if (answer.status >= 200 && answer.status < 300) return;
  throw new UpstreamError(dialect.readFailure({ ...answer, body: readBody(answer.bytes) }));
}

/** JSON where it is JSON, else text, of which no more is kept than a person would read. */
function readBody(bytes: Buffer): unknown {
  const text = withoutByteOrderMark(bytes).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, textMax);
  }
}

/** Reads a JSON text; throws SyntaxError where it is none. */
type ParseJson = (text: string) => unknown;

/** The JSON of an answer, as `parse` reads it; throws UpstreamError where it is none. */
export function parseAnswer(
  provider: string,
  bytes: Buffer,
  parse: ParseJson = JSON.parse,
): unknown {
  try {
    return parse(withoutByteOrderMark(bytes).toString());
  } catch (cause) {
    const isCutOff = bytes.length > 0 && /^\s*[[{]/.test(bytes.toString('latin1', 0, 64));
    const what = isCutOff ? 'cut its answer off' : 'answered something that is not JSON';
    throw UpstreamError.of(isCutOff ? 'truncated' : 'broken', `${provider} ${what}`, { cause });
  }
}

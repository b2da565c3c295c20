import { jsonBytes } from '../json-size.ts';
import type { StoredStep } from './stored-orchestration.ts';

/** What a part of an orchestration is told of one that ended before it. */
export interface EarlierResult {
  readonly agent: string;
  readonly name: string;
  readonly status: StoredStep['status'];
  /** Where `truncated` is true: the beginning of it, as text; of what is no text, of its JSON. */
  readonly result?: unknown;
  readonly truncated?: true;
  readonly error?: { readonly code: string; readonly message: string };
}

const messageLengthMax = 500;

/**
 * The parts that ended so far, in their order, in at most `bytesMax` bytes of JSON wherever their names
 * alone fit. The newest results go first: what of an older one has no room is cut off.
 */
export function earlierResults(
  steps: readonly StoredStep[],
  bytesMax: number,
): readonly EarlierResult[] {
  const heads = steps.map(headOf);
  let left = bytesMax - jsonBytes(heads, Infinity);
  const newestFirst = heads.toReversed().map((head, index): EarlierResult => {
    const { result } = steps[steps.length - 1 - index] ?? {};
    if (result === undefined) return head;
    const told = fittingResult(result, left - fieldBytes);
    left -= jsonBytes(told, Infinity);
    return { ...head, ...told };
  });
  return newestFirst.toReversed();
}

/** Of `truncated`, which stands where a result does not fit. */
const fieldBytes = 32;

function headOf({ agentId, name, status, error }: StoredStep): EarlierResult {
  const { code = '', message = '' } = error ?? {};
  return {
    agent: agentId,
    name,
    status,
    ...(error && { error: { code, message: cut(message, messageLengthMax) } }),
  };
}

function fittingResult(
  result: unknown,
  bytesMax: number,
): Pick<EarlierResult, 'result' | 'truncated'> {
  if (jsonBytes(result, Math.max(0, bytesMax)) <= bytesMax) return { result };
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  let [fits, tooLong] = [0, text.length + 1];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (jsonBytes(cut(text, middle), Math.max(0, bytesMax)) <= bytesMax) fits = middle;
    else tooLong = middle;
  }
  return { result: cut(text, fits), truncated: true };
}

/** The beginning of a text, without half a character at its end. */
function cut(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const last = text.charCodeAt(lengthMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? lengthMax - 1 : lengthMax);
}

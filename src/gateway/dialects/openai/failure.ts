import type { ErrorAnswer, UpstreamFailure } from '../failure.ts';
import { kindOf, type ErrorWords } from './failure-kind.ts';
import { isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { countIn } from './count-in.ts';
import { retryAfterMs } from './retry-after.ts';

/** Of a message that is looked at: no provider needs more to say what is wrong. */
const charsMax = 4000;

/**
 * What an error of any OpenAI-compatible provider means. An error inside an answer of status 200
 * counts by the status that it names itself.
 */
export function readFailure(answer: ErrorAnswer): UpstreamFailure {
  const error = errorIn(answer.body);
  const text = messageIn(error, answer.body)?.slice(0, charsMax);
  const status = statusOf(answer.status, error);
  const retryAfter = retryAfterMs(answer, text ?? '');
  const param = textIn(error['param']) ?? fieldIn(answer.body);
  const code = nameIn(error['code']) ?? textIn(error['type']);
  return {
    kind: kindOf({
      ...wordsOf(error, status, text),
      param: param ?? '',
      isPlain: typeof answer.body === 'string',
    }),
    message: text === undefined ? `the provider answered ${status}` : text,
    ...(status !== 200 && { status }),
    ...(param !== undefined && { param }),
    ...(code !== undefined && { code }),
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  };
}

function wordsOf(
  error: Json,
  status: number,
  text: string | undefined,
): Omit<ErrorWords, 'param' | 'isPlain'> {
  const type = nameIn(error['type'] ?? error['status']) ?? '';
  return {
    status,
    code: innerCode(error) ?? nameIn(error['code'])?.toLowerCase() ?? '',
    type: type.toLowerCase(),
    message: text?.toLowerCase() ?? '',
  };
}

/** The object that describes the error: `error`, in a list with Gemini, or the body itself. */
function errorIn(body: unknown): Json {
  const whole = isRecord(body) ? body : recordIn(listIn(body)[0]);
  return isRecord(whole['error']) ? whole['error'] : whole;
}

function messageIn(error: Json, body: unknown): string | undefined {
  return (
    textIn(error['message']) ??
    textIn(error['error']) ??
    detailIn(error['detail']) ??
    detailIn(error['message']) ??
    plainText(body)
  );
}

/** FastAPI's `detail`, which Mistral and vLLM have for a body of the wrong form. */
function detailIn(detail: unknown): string | undefined {
  if (isRecord(detail)) return detailIn(detail['detail']) ?? textIn(detail['message']);
  const first = listIn(detail)[0];
  return textIn(detail) ?? textIn(recordIn(first)['msg']);
}

/** The field that FastAPI complains of: `body.messages.0.content`. */
function fieldIn(body: unknown): string | undefined {
  const { detail, message } = recordIn(body);
  const flaws = listIn(detail).length > 0 ? detail : recordIn(message)['detail'];
  const path = listIn(recordIn(listIn(flaws)[0])['loc']).filter((step) => step !== 'body');
  return path.length > 0 ? path.join('.') : undefined;
}

/** Text that is no web page of some proxy on the way. */
function plainText(body: unknown): string | undefined {
  const text = textIn(body)?.trim();
  return text === undefined || text === '' || text.startsWith('<') ? undefined : text;
}

function nameIn(value: unknown): string | undefined {
  return textIn(value) ?? (typeof value === 'number' ? String(value) : undefined);
}

/** Azure's finer word for its content filter. */
function innerCode(error: Json): string | undefined {
  const inner = recordIn(error['innererror'] ?? error['inner_error']);
  const code = textIn(inner['code'])?.toLowerCase();
  return code === 'responsibleaipolicyviolation' ? code : undefined;
}

function statusOf(status: number, error: Json): number {
  if (status !== 200) return status;
  const said = countIn(Number(error['code'] ?? Number.NaN)) ?? countIn(error['status']);
  return said !== undefined && said >= 400 && said < 600 ? said : status;
}

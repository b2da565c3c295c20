import { Fault } from '../../kit/errors.ts';

/** Where a guardrail refused, for the caller. */
export interface RefusalDetail {
  readonly guardrail: string;
  /** Which of its rules, where it has several. */
  readonly rule?: string;
  readonly param?: string;
}

/** The refusal of a request or an answer: 400, so that no client tries the same again. */
export function guardrailRefusal(message: string, detail: RefusalDetail): Fault {
  return new Fault('invalid', message, { reason: 'guardrail_refused', detail: { ...detail } });
}

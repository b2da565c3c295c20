import { Fault } from '../../kit/errors.ts';

/** The same refusal, of a field as this API calls it. */
export function withParam(fault: Fault, param: string, message = fault.message): Fault {
  const { code, reason, detail, status } = fault;
  return new Fault(code, message, {
    ...(reason === undefined ? {} : { reason }),
    status,
    detail: { ...detail, param },
    cause: fault,
  });
}

/** What a text is refused with that does not fit: by the field that holds it, which the runtime does not know. */
export function ofTooLong(error: unknown, param: string): unknown {
  const isTooLong = error instanceof Fault && error.reason === 'context_length_exceeded';
  return isTooLong && error.detail['param'] === undefined ? withParam(error, param) : error;
}

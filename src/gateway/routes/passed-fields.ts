import { Fault } from '../../kit/errors.ts';
import { ownFields } from '../exchange/ask.ts';

/**
 * The fields of a request that go to its provider. Those that are for the gateway alone are of chats:
 * throws `invalid` (`unsupported_parameter`) where one is set.
 */
export function passedFields(
  fields: Readonly<Record<string, unknown>>,
  made: string,
): Record<string, unknown> {
  const passed = { ...fields };
  for (const name of ownFields) {
    if (passed[name] !== undefined && passed[name] !== null) throw unsupported(name, made);
    delete passed[name];
  }
  return passed;
}

/** The refusal of a field that is no use where this is made. */
export function unsupported(param: string, made: string): Fault {
  return new Fault('invalid', `${param} is not supported for ${made}`, {
    reason: 'unsupported_parameter',
    detail: { param },
  });
}

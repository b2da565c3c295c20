import { Fault } from '../../kit/errors.ts';

/** For what has no counterpart here. */
export function notTranslatable(message: string): Fault {
  return new Fault('invalid', message, { reason: 'not_translatable' });
}

/** What a translation gives; undefined for what has no counterpart. */
export function translateAs<T>(translate: () => T): T | undefined {
  try {
    return translate();
  } catch (error) {
    if (Fault.from(error).reason !== 'not_translatable') throw error;
    return undefined;
  }
}

import { Type } from 'typebox';

/**
 * The key of an object that may have any: `Type.Record(AnyKey, …)`. The pattern of `Type.String()` there
 * is `.*`, which no key with a line break matches; such a field would be neither checked nor sent.
 */
export const AnyKey = Type.String({ pattern: '^[\\s\\S]*$' });

import { Type } from 'typebox';
import type { Marker } from '../schema.ts';

/** A setting that is a text; what a lone placeholder puts there is taken as JSON. */
export function textSetting(description: string) {
  return Type.Union(
    [
      Type.String({ minLength: 1 }),
      Type.Number(),
      Type.Boolean(),
      Type.Array(Type.Unknown()),
      Type.Object({}, { additionalProperties: true }),
    ],
    { description, 'x-ennead': 'multiline' satisfies Marker },
  );
}

/** The text of such a setting. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

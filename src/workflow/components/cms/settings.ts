import { Type } from 'typebox';
import { AnyKey } from '../../../kit/any-key.ts';

const machineName = '^[a-z][a-z0-9_]{0,63}$';
const machineNameWords = 'a machine name of the CMS: lower case, digits and underscores';

/** `article`, `page`, … */
export const bundle = Type.String({ pattern: machineName, description: machineNameWords });
/** `node` unless told. */
export const entityType = Type.Optional(
  Type.String({ pattern: machineName, default: 'node', description: machineNameWords }),
);
/** An entity's number. */
export const nid = Type.Union(
  [Type.Integer({ minimum: 1 }), Type.String({ pattern: '^[1-9]\\d{0,18}$' })],
  { description: 'the number of the entity in the CMS' },
);
/** The values of an entity's fields. */
export const fields = Type.Record(AnyKey, Type.Unknown(), {
  description:
    'values by field; `{value, format}` for formatted text, `{data: {type, id}}` for references',
});
/** How flows see an entity. */
export const entity = Type.Object(
  {
    uuid: Type.String(),
    nid: Type.Union([Type.Integer(), Type.String(), Type.Null()]),
    bundle: Type.String(),
    entityType: Type.String(),
    url: Type.String(),
    relationships: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: true, description: 'with its fields by name, as in `entity.title`' },
);

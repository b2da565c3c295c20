import type { TSchema } from 'typebox';
import type { Component } from './component.ts';
import { markerOf, type Marker } from './schema.ts';

/** What stands in answers, events and exports in place of a secret. */
export const hiddenSecret = '***';

const known = new WeakMap<TSchema, readonly string[]>();

/** The fields of an object's schema that are marked as secret; of those within fields, none. */
export function secretFieldsOf(schema: TSchema): readonly string[] {
  const found = known.get(schema);
  if (found) return found;
  const names = fieldsMarked(schema, 'secret');
  known.set(schema, names);
  return names;
}

/** The fields of an object's schema that have a marker. */
export function fieldsMarked(schema: TSchema, marker: Marker): readonly string[] {
  const { properties = {} } = schema as { readonly properties?: Record<string, TSchema> };
  return Object.keys(properties).filter((name) => {
    const field = properties[name];
    return field !== undefined && markerOf(field) === marker;
  });
}

const secretHeaderName =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|api-?key|token|secret|password/i;

/** Whether the name of a request's header says that its value is secret. */
export function isSecretHeader(name: string): boolean {
  return secretHeaderName.test(name);
}

/** Whether some node of a flow takes a secret as a setting, or gives one as an output. */
export function hasSecrets(
  { nodes }: { readonly nodes: ReadonlyMap<string, { readonly component: Component }> },
  side: 'input' | 'output',
): boolean {
  for (const { component } of nodes.values()) {
    if (secretFieldsOf(component[side]).length > 0) return true;
  }
  return false;
}

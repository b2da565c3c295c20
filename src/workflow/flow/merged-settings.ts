import type { TSchema } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import { fieldsMarked, isSecretHeader, secretFieldsOf } from '../components/secret-fields.ts';
import { expressionFault } from './expressions/budget.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Throws `invalid` (`setting_not_open`) where inputs would replace a setting that only the author of the
 * workflow sets; `path` is where the inputs of the node stand.
 */
export function refuseAuthorsSettings(schema: TSchema, inputs: Fields, path = 'data.'): void {
  const closed = fieldsMarked(schema, 'author').find((name) => Object.hasOwn(inputs, name));
  if (closed === undefined) return;
  const message = `${path}${closed} is set by the author of the workflow alone, no inputs replace it`;
  throw new Fault('invalid', message, {
    reason: 'setting_not_open',
    detail: { param: `${path}${closed}` },
  });
}

/** Inputs that are taken as they are; throws `invalid` (`expression_failed`) for conditions among them. */
export function refuseConditions(schema: TSchema, inputs: Fields): Fields {
  const name = fieldsMarked(schema, 'cel').find((one) => typeof inputs[one] === 'string');
  if (name === undefined) return inputs;
  const message = `${name}: what came from elsewhere is never evaluated as a condition, give true or false`;
  throw expressionFault(message, `/${name}`);
}

/** Settings as `shown`, and as `full` where they are secrets, or headers that are. */
export function withSecrets(schema: TSchema, full: Fields, shown: Fields): Fields {
  const secrets = secretFieldsOf(schema).filter((name) => Object.hasOwn(full, name));
  const headers = fieldsMarked(schema, 'headers').flatMap((name) => {
    const secret = Object.entries(headersOf(full[name])).filter(([one]) => isSecretHeader(one));
    if (secret.length === 0) return [];
    return [[name, { ...headersOf(shown[name]), ...Object.fromEntries(secret) }] as const];
  });
  return {
    ...shown,
    ...Object.fromEntries(secrets.map((name) => [name, full[name]])),
    ...Object.fromEntries(headers),
  };
}

/**
 * Throws `forbidden` (`secret_elsewhere`) where inputs would have the secrets which the author's settings
 * keep sent to another origin than the author wrote. `ownOf` renders one of the author's settings.
 */
export function refuseOtherOrigins(
  schema: TSchema,
  { kept, merged }: { readonly kept: Fields; readonly merged: Fields },
  ownOf: (name: string) => Fields,
): void {
  const names = fieldsMarked(schema, 'address').filter((name) => Object.hasOwn(merged, name));
  if (names.length === 0 || !keepsSecrets(schema, kept)) return;
  for (const name of names) {
    const origin = originOf(ownOf(name)[name]);
    if (origin !== undefined && origin === originOf(merged[name])) continue;
    const message = `${name}: the node keeps secrets for ${origin ?? 'no address at all'}, which inputs may not send elsewhere; give headers too, or an address of that origin`;
    throw new Fault('forbidden', message, { reason: 'secret_elsewhere' });
  }
}

function keepsSecrets(schema: TSchema, kept: Fields): boolean {
  const headers = fieldsMarked(schema, 'headers').flatMap((name) =>
    Object.keys(headersOf(kept[name])),
  );
  if (headers.some(isSecretHeader)) return true;
  return secretFieldsOf(schema).some((name) => Object.hasOwn(kept, name));
}

function headersOf(value: unknown): Fields {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  // An object that is no list has names and values.
  return isObject ? (value as Fields) : {};
}

/** Undefined for what is no address of a host. */
function originOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { origin } = new URL(value);
  return origin === 'null' ? undefined : origin;
}

import { Type, type TOptional, type TNull, type TSchema, type TUnion } from 'typebox';

/** A field that may be absent; the clients of both dialects write `null` for that too. */
export function nullable<T extends TSchema>(schema: T): TOptional<TUnion<[T, TNull]>> {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], null | undefined> };

/** The fields that hold something: neither `undefined` nor `null`. */
export function present<T extends object>(fields: T): Present<T> {
  const held = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  // The entries are those of `fields`, less what the type takes away.
  return Object.fromEntries(held) as Present<T>;
}

import { Type } from 'typebox';

/** A field that may be absent; null says so too, as in OpenAI's APIs and in GraphQL. */
export const nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

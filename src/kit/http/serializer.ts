import fastJson from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';

/**
 * A writer of answers, made when the first such answer is sent: a suite has more than a thousand of
 * them, each takes a millisecond to make, and most starts use few.
 */
export function writerOf(schema: object): (answer: unknown) => string {
  let write: ((answer: unknown) => string) | undefined;
  return (answer) => {
    write ??= fastJson(schema);
    return write(answer);
  };
}

/** The same as Fastify asks for it. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) =>
  writerOf(schema);

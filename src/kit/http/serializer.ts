import fastJson from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';

/**
 * Makes Fastify's serialiser of an answer when the first such answer is sent: a suite has more than a
 * thousand of them, each takes a millisecond to make, and most starts use few.
 */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  let write: ((answer: unknown) => string) | undefined;
  return (answer) => {
    write ??= fastJson(schema);
    return write(answer);
  };
};

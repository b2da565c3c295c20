import { GraphQLError, type GraphQLErrorOptions } from 'graphql/index.js';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import { codeOf, statusOfFault } from '../envelope.ts';

/**
 * What a caller may know of an error: a fault's own words and code, GraphQL's words about the document,
 * and of all else nothing but that it is our bug, which is logged.
 */
export function maskError(error: unknown, log: Log): GraphQLError {
  if (isMasked(error)) return error;
  const thrown = originOf(error);
  if (thrown instanceof GraphQLError) return withCode(thrown);
  const fault = Fault.from(thrown);
  if (fault.code === 'internal') log.error({ err: fault.cause ?? fault }, 'internal error');
  const { retryAfter } = fault;
  return new GraphQLError(fault.message, {
    ...placeOf(error),
    // Never written, for the status of HTTP.
    originalError: fault,
    extensions: {
      code: codeOf(fault),
      ...(Object.keys(fault.detail).length > 0 ? { details: fault.detail } : {}),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    },
  });
}

/** The status of a refusal over HTTP: of GraphQL's own words about a document, that of a bad request. */
export function statusOfError({ originalError }: GraphQLError): number {
  return originalError instanceof Fault ? statusOfFault(originalError) : badRequest;
}

const badRequest = 400;

/** GraphQL itself gives what is thrown no code. */
function isMasked(error: unknown): error is GraphQLError {
  return (
    error instanceof GraphQLError &&
    error.originalError instanceof Fault &&
    'code' in error.extensions
  );
}

/** Where in the document and its answer an error stands. */
function placeOf(error: unknown): Pick<GraphQLErrorOptions, 'nodes' | 'path'> {
  if (!(error instanceof GraphQLError)) return {};
  const { nodes, path } = error;
  return { ...(nodes ? { nodes } : {}), ...(path ? { path } : {}) };
}

/** What was thrown, below the places in the document that were noted on its way. */
function originOf(error: unknown): unknown {
  let origin = error;
  while (origin instanceof GraphQLError && origin.originalError) origin = origin.originalError;
  return origin;
}

function withCode(error: GraphQLError): GraphQLError {
  // GraphQL's own errors say nothing more; extensions are made for this.
  (error.extensions as Record<string, unknown>)['code'] ??= 'VALIDATION_ERROR';
  return error;
}

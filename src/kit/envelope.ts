import type { IncomingHttpHeaders } from 'node:http';
import { Type, type TSchema } from 'typebox';
import type { Fault } from './errors.ts';

/** What an envelope may tell besides the fault itself. */
export interface FaultContext {
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** The request's path, for services that word refusals differently by path. */
  readonly path: string;
  /** The request's, where one came as far, for services that word refusals by who asks. */
  readonly headers?: IncomingHttpHeaders | undefined;
}

/** How a service words its refusals. */
export interface Envelope {
  readonly schema: TSchema;
  /** The HTTP status of a refusal, for services that know fewer of them; the fault's own when absent. */
  statusOf?(fault: Fault): number;
  wrap(fault: Fault, context: FaultContext): unknown;
}

/** `error {code, message, details, requestId}`: the envelope of services that have none of their own. */
export const plainEnvelope: Envelope = {
  schema: Type.Object(
    {
      error: Type.Object({
        code: Type.String({ description: 'upper snake case: the reason, else the code' }),
        message: Type.String(),
        details: Type.Object({ timestamp: Type.String() }, { additionalProperties: true }),
        requestId: Type.String(),
      }),
    },
    { $id: 'Error' },
  ),
  wrap: (fault, { requestId, timestamp }) => ({
    error: {
      code: (fault.reason ?? fault.code).toUpperCase(),
      message: fault.message,
      details: { ...fault.detail, timestamp },
      requestId,
    },
  }),
};

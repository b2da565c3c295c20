import type { Fault } from '../../kit/errors.ts';
import { describeFault } from '../envelope.ts';
import type { Face } from './face.ts';
import { readRequest } from './responses/read-request.ts';
import { writeAnswer } from './responses/response.ts';
import { ResponseStream } from './responses/stream.ts';

/** OpenAI's Responses API without its storage: every request brings the whole conversation. */
export const responsesFace: Face = {
  name: 'responses',
  dialect: undefined,
  read: readRequest,
  writeAnswer,
  openStream: (request) => new ResponseStream(request),
  writeFailure,
};

/** The event as the API's reference shows it, and `error` besides, which clients look for. */
function writeFailure(fault: Fault, eventsBefore = 0): string {
  const error = describeFault(fault);
  const { message } = error;
  const code = fault.reason ?? fault.code;
  const param = 'param' in error ? error.param : null;
  const event = { type: 'error', sequence_number: eventsBefore, code, message, param };
  const nested = { ...error, code, param };
  return `event: error\ndata: ${JSON.stringify({ ...event, error: nested })}\n\n`;
}

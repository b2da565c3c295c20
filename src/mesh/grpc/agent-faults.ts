import { status, type ServiceError } from '@grpc/grpc-js';
import { Fault, type Code } from '../../kit/errors.ts';

/** How an agent says that it will not do a task; nothing was done then. */
const refusals = new Map<status, Code>([
  [status.INVALID_ARGUMENT, 'invalid'],
  [status.FAILED_PRECONDITION, 'invalid'],
  [status.OUT_OF_RANGE, 'invalid'],
  [status.NOT_FOUND, 'not_found'],
  [status.PERMISSION_DENIED, 'forbidden'],
  [status.UNAUTHENTICATED, 'unauthenticated'],
  [status.ALREADY_EXISTS, 'conflict'],
  [status.UNIMPLEMENTED, 'unimplemented'],
  [status.DEADLINE_EXCEEDED, 'deadline'],
]);

const messageCharsMax = 300;

/** What became of the call of an agent; its words are cut and lose what could steer a terminal. */
export function faultOf(error: ServiceError): Fault {
  const { code, details } = error;
  if (code === status.UNAVAILABLE) return unavailable(error);
  if (code === status.RESOURCE_EXHAUSTED) return exhausted(error);
  const refusal = refusals.get(code);
  if (refusal) return new Fault(refusal, plain(details), { cause: error });
  return new Fault('upstream', plain(details), { reason: 'agent_failed', cause: error });
}

/** The client's own words tell whether the call had left it. */
function unavailable(error: ServiceError): Fault {
  const isUnreached = /^(?:No connection established|Name resolution)/.test(error.details);
  if (isUnreached) {
    const options = { reason: 'agent_unreachable', cause: error };
    return new Fault('unavailable', 'the agent cannot be reached', options);
  }
  const options = { reason: 'connection_lost', cause: error };
  return new Fault('unavailable', 'the connection to the agent was lost', options);
}

/** The client says the same of an answer that it refused to take. */
function exhausted(error: ServiceError): Fault {
  if (error.details.startsWith('Received message')) {
    const options = { reason: 'result_too_large', cause: error };
    return new Fault('upstream', 'the agent answered more than a mebibyte', options);
  }
  return new Fault('exhausted', 'the agent takes no task now', {
    reason: 'agent_busy',
    cause: error,
  });
}

function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ').slice(0, messageCharsMax);
}

import { codes, Fault } from '../../kit/errors.ts';
import type { GrpcStatus } from '../../kit/grpc/status.ts';
import type { MeshDefinition } from './definition.ts';

const domain = 'mesh.ennead';
const textMax = 512;

/** Words refusals for gRPC. */
export class GrpcStatuses {
  readonly #details: MeshDefinition['details'];

  constructor({ details }: Pick<MeshDefinition, 'details'>) {
    this.#details = details;
  }

  /**
   * The status of a Fault. Beside code and message it carries `grpc-status-details-bin` (google.rpc
   * Status with ErrorInfo, and RetryInfo where the Fault says when), and the reason and the id of the
   * request as plain metadata.
   */
  of(fault: Fault, requestId: string): GrpcStatus {
    const code = codeOf(fault);
    const reason = (fault.reason ?? fault.code).toUpperCase();
    const metadata = {
      'error-code': reason,
      'request-id': requestId,
      'grpc-status-details-bin': this.#statusBytes(fault, { code, reason, requestId }),
    };
    return { code, message: fault.message, metadata };
  }

  #statusBytes(fault: Fault, facts: Facts): Buffer {
    const { code, reason, requestId } = facts;
    const texts = Object.entries(fault.detail).map(([name, value]) => [name, textOf(value)]);
    const metadata = { ...Object.fromEntries(texts), requestId };
    const info = this.#detail('ErrorInfo', { reason, domain, metadata });
    const retry =
      fault.retryAfter === undefined
        ? []
        : [this.#detail('RetryInfo', { retryDelay: { seconds: fault.retryAfter } })];
    const { Status } = this.#details;
    return Status.serialize({ code, message: fault.message, details: [info, ...retry] });
  }

  #detail(name: 'ErrorInfo' | 'RetryInfo', value: object) {
    return {
      typeUrl: `type.googleapis.com/google.rpc.${name}`,
      value: this.#details[name].serialize(value),
    };
  }
}

/** FAILED_PRECONDITION: the state forbids it, nothing of that name is there already. */
const failedPrecondition = 9;
const stateConflicts: ReadonlySet<string | undefined> = new Set([
  'swarm_ended',
  'swarm_full',
  'voting_began',
]);

function codeOf({ code, reason }: Fault): number {
  return stateConflicts.has(reason) ? failedPrecondition : codes[code].grpc;
}

interface Facts {
  readonly code: number;
  readonly reason: string;
  readonly requestId: string;
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // All of a refusal must fit into a header.
  return text.slice(0, textMax);
}

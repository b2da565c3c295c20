import { Fault } from '../../kit/errors.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { Engine, Execution, NodeRun } from './execution.ts';
import { executionNotFound } from './follow.ts';

/** A node that waits for an approval. */
export interface ApprovalPlace {
  readonly executionId: string;
  readonly nodeId: string;
  readonly iteration: string;
}

export interface Decision {
  readonly approved: boolean;
  readonly comment?: string;
  /** Who decided, as the node's output says it. */
  readonly by: string;
  readonly output?: Readonly<Record<string, unknown>>;
}

export interface ApprovalsOptions {
  readonly engine: Pick<Engine, 'find' | 'nodePage' | 'signal'>;
  readonly sealer: Pick<Sealer, 'mark' | 'isMark'>;
  /** Of this service, without a slash at the end. */
  readonly baseUrl: string;
}

const purpose = 'workflow approval link';

/** Decisions of people for which executions wait; each is taken once, whoever else decides. */
export class Approvals {
  readonly #options: ApprovalsOptions;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /** The address at which whoever holds it decides, until then; nobody else can make it. */
  linkOf(place: ApprovalPlace & { readonly expiresAtMs: number }): string {
    const { executionId, nodeId, iteration, expiresAtMs } = place;
    const text = JSON.stringify([executionId, nodeId, iteration, expiresAtMs]);
    const body = Buffer.from(text).toString('base64url');
    const token = `${body}~${this.#options.sealer.mark(body, purpose)}`;
    return `${this.#options.baseUrl}/api/v1/approvals/${token}`;
  }

  /** What a link decides; Fault `not_found` (`approval_not_found`) for what is no link of ours. */
  readLink(token: string): ApprovalPlace {
    const [body = '', mark = ''] = token.split('~');
    if (!this.#options.sealer.isMark(mark, body, purpose)) throw approvalNotFound();
    // Written by `linkOf`, as its mark says.
    const place = JSON.parse(Buffer.from(body, 'base64url').toString()) as [
      string,
      string,
      string,
      number,
    ];
    const [executionId, nodeId, iteration, expiresAtMs] = place;
    if (Date.now() > expiresAtMs) throw approvalNotFound();
    return { executionId, nodeId, iteration };
  }

  /** The node, whether it waits or has ended. */
  async find(
    place: ApprovalPlace,
  ): Promise<{ readonly execution: Execution; readonly run: NodeRun }> {
    const { engine } = this.#options;
    const execution = await engine.find(place.executionId);
    if (!execution) throw executionNotFound();
    const { executionId, nodeId, iteration } = place;
    const { nodes } = await engine.nodePage(executionId, {
      filter: { nodeId, iteration },
      limit: 1,
    });
    const [run] = nodes;
    if (!run) throw approvalNotFound();
    return { execution, run };
  }

  /** Fault `conflict` (`not_waiting`) when it was decided, or waits for something else. */
  async decide(place: ApprovalPlace, decision: Decision): Promise<void> {
    const { run } = await this.find(place);
    const { approved, comment, by, output } = decision;
    const isTaken =
      isOpenApproval(run) &&
      (await this.#options.engine.signal(place, {
        output: { ...output, approved, ...(comment === undefined ? {} : { comment }), by },
        handle: approved ? 'approved' : 'rejected',
      }));
    if (!isTaken) {
      const message = 'nothing waits for this decision';
      throw new Fault('conflict', message, { reason: 'not_waiting' });
    }
  }
}

/** Whether a node waits for a person's decision. */
export function isOpenApproval({ status, reason }: NodeRun): boolean {
  return status === 'waiting' && reason === 'approval';
}

/** Who alone may decide; undefined where the node names nobody. */
export function approversOf({ detail }: NodeRun): readonly unknown[] | undefined {
  const approvers = detail?.['approvers'];
  return Array.isArray(approvers) && approvers.length > 0 ? approvers : undefined;
}

/** What is to be decided, as the approver reads it. */
export function messageOf({ detail }: NodeRun): string {
  const message = detail?.['message'];
  return typeof message === 'string' ? message : '';
}

function approvalNotFound(): Fault {
  return new Fault('not_found', 'there is no such approval', { reason: 'approval_not_found' });
}

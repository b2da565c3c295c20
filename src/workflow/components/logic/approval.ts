import { Type } from 'typebox';
import type { Component, NodeContext } from '../component.ts';
import { defineComponent, type Marker } from '../schema.ts';

/** The node that waits for an approval. */
export interface ApprovalPlace extends Pick<
  NodeContext,
  'executionId' | 'workflowId' | 'nodeId' | 'iteration' | 'ownerId'
> {
  /** When the wait ends. */
  readonly expiresAtMs: number;
}

export interface ApprovalDependencies {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The address where whoever holds it decides, without a token. */
  readonly approvalLink: (place: ApprovalPlace) => string;
}

const dayMs = 24 * 3_600 * 1_000;
const timeoutDefault = 7 * dayMs;

const input = Type.Object(
  {
    message: Type.String({
      minLength: 1,
      maxLength: 10_000,
      'x-ennead': 'multiline',
      description: 'what is to be decided, as the approver reads it',
    }),
    approvers: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 50,
        'x-ennead': 'author' satisfies Marker,
        description:
          'ids of the users who alone may decide, with their own tokens; else the owner and whoever holds the link. No inputs replace them',
      }),
    ),
    timeout: Type.Optional(
      Type.Integer({
        minimum: 1_000,
        maximum: 366 * dayMs,
        default: timeoutDefault,
        description: 'milliseconds; the node fails when nobody has decided by then',
      }),
    ),
  },
  { examples: [{ message: 'Publish “{{ draft.json.title }}”?', timeout: 86_400_000 }] },
);

/** Waits for a person's yes or no. */
export function createApproval({ now, approvalLink }: ApprovalDependencies): Component {
  return defineComponent({
    name: 'Approval',
    group: 'logic',
    title: 'Approval',
    description:
      'Waits until somebody approves or rejects, with a token or by the signed link in its detail, and ends on the handle `approved` or `rejected`. It takes no memory while it waits and outlives restarts.',
    input,
    output: Type.Object({
      approved: Type.Boolean(),
      comment: Type.Optional(Type.String()),
      by: Type.String({ description: 'the id of the user, or `link`' }),
    }),
    handles: ['approved', 'rejected'],
    handleOf: ({ approved }) => {
      if (typeof approved !== 'boolean') return undefined;
      return approved ? 'approved' : 'rejected';
    },
    effect: 'none',
    parks: true,
    typicalMs: 60_000,
    run: async ({ message, approvers = [], timeout = timeoutDefault }, context) => {
      const wakeAtMs = now() + timeout;
      // The owner reads the detail: a link there would decide in place of the approvers.
      const who =
        approvers.length > 0 ? { approvers } : { link: approvalLink(placeOf(context, wakeAtMs)) };
      return { kind: 'parked', reason: 'approval', wakeAtMs, detail: { message, ...who } };
    },
  });
}

function placeOf(context: NodeContext, expiresAtMs: number): ApprovalPlace {
  const { executionId, workflowId, nodeId, iteration, ownerId } = context;
  return { executionId, workflowId, nodeId, iteration, ownerId, expiresAtMs };
}

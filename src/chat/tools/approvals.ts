import { Fault } from '../../kit/errors.ts';
import { requirePermission } from '../../kit/permissions.ts';
import type { Caller } from '../caller.ts';
import {
  ownerOf,
  type Conversations,
  type Message,
  type ToolCall,
} from '../conversations/conversation.ts';
import type { Turn, Turns } from '../turns/turn.ts';
import { toolPermissions } from './registry-tools.ts';

/** A call that waits for its user. */
export interface OpenApproval extends ToolCall {
  readonly messageId: string;
}

export interface ApprovalParts {
  readonly conversations: Pick<Conversations, 'find' | 'messages'>;
  readonly turns: Pick<Turns, 'find' | 'approve'>;
}

/** Behind a waiting answer there is nothing but the results of its own calls. */
const messagesReadMax = 512;

/** The turn of a conversation that waits, and the calls that it waits for. */
export async function findApprovals(
  { conversations, turns }: ApprovalParts,
  caller: Caller,
  conversationId: string,
): Promise<{ readonly turnId?: string; readonly approvals: readonly OpenApproval[] }> {
  const owner = ownerOf(caller);
  const { messageCount } = await conversations.find(owner, conversationId);
  const after = Math.max(0, messageCount - messagesReadMax);
  const window = { after, limit: messagesReadMax };
  const messages = await conversations.messages(owner, conversationId, window);
  const asking = messages.findLast(({ toolCalls = [] }) => toolCalls.length > 0);
  const turn = asking?.turnId && (await findTurn(turns, owner, asking.turnId));
  if (!asking || !turn || turn.status !== 'waiting') return { approvals: [] };
  return { turnId: turn.id, approvals: openCalls(asking, messages, turn) };
}

/** Fault `turn_not_found` for a turn of another conversation; `forbidden` for who may call no tools. */
export async function answerApprovals(
  { turns }: Pick<ApprovalParts, 'turns'>,
  caller: Caller,
  {
    conversationId,
    turnId,
    answers,
  }: {
    readonly conversationId: string;
    readonly turnId: string;
    readonly answers: Parameters<Turns['approve']>[2];
  },
): Promise<Turn> {
  const turn = await turns.find(ownerOf(caller), turnId);
  if (turn.conversationId !== conversationId) {
    throw new Fault('not_found', 'the conversation has no such turn', { reason: 'turn_not_found' });
  }
  requireApprover(caller, answers);
  return turns.approve(caller, turnId, answers);
}

/** Fault `forbidden` for who may call no tools, unless nothing is approved. */
export function requireApprover(
  { identity }: Caller,
  answers: Parameters<Turns['approve']>[2],
): void {
  if (new Set(answers.map(({ callId }) => callId)).size < answers.length) {
    throw new Fault('invalid', 'a call is answered once only', { reason: 'call_answered_twice' });
  }
  if (answers.some(({ isApproved }) => isApproved)) {
    requirePermission(identity.permissions, toolPermissions);
  }
}

/** Undefined for one that ended so long ago that it is forgotten. */
async function findTurn(
  turns: Pick<Turns, 'find'>,
  owner: string,
  turnId: string,
): Promise<Turn | undefined> {
  try {
    return await turns.find(owner, turnId);
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Of a turn that does not say which it asks about, all that have no result. */
function openCalls(
  { id: messageId, toolCalls = [] }: Message,
  messages: readonly Message[],
  { openCallIds }: Turn,
): OpenApproval[] {
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  return toolCalls
    .filter(({ id }) => openCallIds?.includes(id) ?? !answered.has(id))
    .map((call) => ({ ...call, messageId }));
}

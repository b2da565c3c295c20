import type { Handler } from '../../kit/http/call.ts';
import type { Caller } from '../caller.ts';
import { ownerOf, type Conversations, type ToolRules } from '../conversations/conversation.ts';
import type { toolRoutes } from '../schemas/tools.ts';
import { answerApprovals, findApprovals } from '../tools/approvals.ts';
import type { ListedTool } from '../tools/listed-tool.ts';
import type { RegistryTools } from '../tools/registry-tools.ts';
import { needsApproval, planTools } from '../tools/tool-rules.ts';
import type { Turns } from '../turns/turn.ts';

type Routes = typeof toolRoutes;

export interface ToolHandlerParts {
  readonly tools: Pick<RegistryTools, 'list' | 'check'>;
  readonly conversations: Pick<Conversations, 'find' | 'change' | 'messages'>;
  readonly turns: Pick<Turns, 'find' | 'approve'>;
}

const noTools: ToolRules = { allow: [], approval: 'writes' };

/** The edge of tools and of approvals. */
export function toolHandlers(parts: ToolHandlerParts): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  const { tools, conversations } = parts;
  return {
    listTools: async (call) => {
      const { connection, limit, offset } = call.query;
      const all = await tools.list(callerOf(call));
      const found = all.filter((tool) => !connection || tool.connection === connection);
      const page = found.slice(offset, offset + limit);
      const described = page.map((tool) => toAnswer(noTools, tool));
      return { tools: described, total: found.length, limit, offset };
    },
    readConversationTools: async (call) => {
      const { tools: rules } = await conversations.find(ownerOf(call), call.params.id);
      return describe(tools, callerOf(call), rules ?? noTools);
    },
    setConversationTools: async (call) => {
      const { allow, approval = 'writes' } = call.body;
      const rules = { allow, approval };
      const owner = ownerOf(call);
      await conversations.find(owner, call.params.id);
      const caller = callerOf(call);
      await tools.check(caller, rules);
      await conversations.change(owner, call.params.id, { tools: rules });
      return describe(tools, caller, rules);
    },
    ...approvalHandlers(parts),
  };
}

function approvalHandlers(
  parts: ToolHandlerParts,
): Pick<{ readonly [K in keyof Routes]: Handler<Routes[K]> }, 'listApprovals' | 'answerApprovals'> {
  return {
    listApprovals: async (call) => {
      const { turnId, approvals } = await findApprovals(parts, callerOf(call), call.params.id);
      return {
        ...(turnId === undefined ? {} : { turn_id: turnId }),
        approvals: approvals.map((one) => ({
          call_id: one.id,
          message_id: one.messageId,
          name: one.name,
          arguments: one.arguments,
        })),
      };
    },
    answerApprovals: async (call) => {
      const { turn_id: turnId, answers } = call.body;
      const turn = await answerApprovals(parts, callerOf(call), {
        conversationId: call.params.id,
        turnId,
        answers: answers.map(({ call_id: callId, approved }) => ({ callId, isApproved: approved })),
      });
      return {
        turn_id: turn.id,
        conversation_id: call.params.id,
        message_id: turn.messageId,
        status: turn.status,
      };
    },
  };
}

/** What outlives the request. */
function callerOf({ identity, credential }: Caller): Caller {
  return { identity, credential };
}

async function describe(tools: ToolHandlerParts['tools'], caller: Caller, rules: ToolRules) {
  const { allow, approval } = rules;
  const known = allow.length === 0 ? [] : await tools.list(caller);
  const { offered, leftOut, missing } = planTools(rules, known);
  return {
    allow: [...allow],
    approval,
    tools: offered.map((tool) => toAnswer(rules, tool)),
    left_out: leftOut.map(({ id }) => id),
    missing: [...missing],
  };
}

function toAnswer(rules: ToolRules, tool: ListedTool) {
  return {
    name: tool.id,
    model_name: tool.name,
    connection: tool.connection,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description,
    needs_approval: needsApproval(rules, tool),
  };
}

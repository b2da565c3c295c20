import type { Conversation, Message, Usage } from './conversation.ts';

/** What answers in a conversation that names no model: the gateway chooses. */
const gatewaysChoice = 'auto-route';

/** A conversation as REST and sockets show it. */
export function toConversation(conversation: Conversation) {
  const { id, title, model, tools, branchedFrom, messageCount, totalTokens, cost } = conversation;
  return {
    id,
    title,
    created_at: new Date(conversation.createdAtMs).toISOString(),
    updated_at: new Date(conversation.updatedAtMs).toISOString(),
    message_count: messageCount,
    model: model ?? gatewaysChoice,
    total_tokens: totalTokens,
    cost,
    ...(tools && { tools: { allow: [...tools.allow], approval: tools.approval } }),
    ...(branchedFrom && {
      branched_from: {
        conversation_id: branchedFrom.conversationId,
        message_id: branchedFrom.messageId,
      },
    }),
  };
}

/** A message as REST and sockets show it. */
export function toMessage(message: Message) {
  const { id, role, content, place, status, model, usage, parts, toolCalls, toolCallId } = message;
  return {
    id,
    role,
    content,
    timestamp: new Date(message.createdAtMs).toISOString(),
    place,
    status,
    ...(model !== undefined && { model }),
    ...(usage && { usage: toUsage(usage) }),
    ...(parts && { parts: [...parts] }),
    ...(toolCalls && { tool_calls: [...toolCalls] }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(message.turnId !== undefined && { turn_id: message.turnId }),
  };
}

/** Tokens and cost in the names of OpenAI's API. */
export function toUsage({ promptTokens, completionTokens, totalTokens, cost }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
    ...(cost !== undefined && { cost }),
  };
}

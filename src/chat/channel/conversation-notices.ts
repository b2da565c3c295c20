import { toConversation, toMessage } from '../conversations/answers.ts';
import type { ConversationNews } from '../conversations/conversation.ts';
import type { AgentProgress } from '../orchestrations/orchestration.ts';
import { Notice } from './notice.ts';

/** What the owner's sockets are told of a conversation: of its first message also how that named it. */
export function conversationNotices(news: ConversationNews): readonly Notice[] {
  const { conversationId, conversation, message } = news;
  if (news.type !== 'message' || !message) return [changeNotice(news)];
  const data = { conversation_id: conversationId, message: toMessage(message) };
  const notice = Notice.of('message', data, { id: conversationId, seq: 0 });
  const isFirst = message.place === 1 && conversation !== undefined;
  return isFirst ? [changeNotice({ ...news, type: 'changed' }), notice] : [notice];
}

function changeNotice({ type, conversationId, conversation }: ConversationNews): Notice {
  const data = {
    type,
    conversation_id: conversationId,
    ...(conversation ? { conversation: toConversation(conversation) } : {}),
  };
  return Notice.of('conversation', data, { id: conversationId, seq: 0 });
}

/** What whoever watches an agent is told. */
export function progressNotice(told: AgentProgress): Notice {
  const { agentId, taskId, progress, status, message } = told;
  const data = { agent_id: agentId, task_id: taskId, progress, status, message };
  return Notice.of('agent_progress', data, { id: agentId, seq: 0 });
}

import type { Handler } from '../../kit/http/call.ts';
import { toConversation, toMessage } from '../conversations/answers.ts';
import {
  ownerOf,
  type Conversation,
  type Conversations,
  type Message,
  type ToolRules,
} from '../conversations/conversation.ts';
import type { conversationRoutes as routes } from '../schemas/conversations.ts';
import type { ChatTools } from '../tools/tool.ts';

type ConversationHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface ConversationHandlerParts {
  readonly conversations: Conversations;
  readonly tools: Pick<ChatTools, 'check'>;
}

/** The edge of the conversations. */
export function conversationHandlers(parts: ConversationHandlerParts): ConversationHandlers {
  return { ...readingHandlers(parts), ...writingHandlers(parts) };
}

type Reading = 'listConversations' | 'readConversation' | 'listMessages';

function readingHandlers({
  conversations,
}: ConversationHandlerParts): Pick<ConversationHandlers, Reading> {
  /** With the conversation as it was just after, so that `next` never lies behind its end. */
  const read = async (
    caller: Parameters<typeof ownerOf>[0],
    id: string,
    page: { readonly after: number; readonly limit?: number },
  ) => {
    const messages = await conversations.messages(ownerOf(caller), id, page);
    const conversation = await conversations.find(ownerOf(caller), id);
    return { conversation, messages, next: nextOf(conversation, messages) };
  };
  return {
    listConversations: async (call) => {
      const { limit, offset } = call.query;
      const { conversations: found, total } = await conversations.list(ownerOf(call), call.query);
      return { conversations: found.map(toConversation), total, limit, offset };
    },
    readConversation: async (call) => {
      const { conversation, messages, next } = await read(call, call.params.id, call.query);
      return { ...toConversation(conversation), messages: messages.map(toMessage), ...next };
    },
    listMessages: async (call) => {
      const { conversation, messages, next } = await read(call, call.params.id, call.query);
      return { messages: messages.map(toMessage), total: conversation.messageCount, ...next };
    },
  };
}

function writingHandlers({
  conversations,
  tools: chatTools,
}: ConversationHandlerParts): Omit<ConversationHandlers, Reading> {
  return {
    createConversation: async (call) => {
      const { title, model, tools: given, messages = [] } = call.body;
      const tools = rulesOf(given);
      if (tools) await chatTools.check(call, tools);
      const owner = ownerOf(call);
      const named = {
        ...(title == null ? {} : { title }),
        ...(model == null ? {} : { model }),
        ...(tools && { tools }),
      };
      return toConversation(await conversations.create(owner, named, messages));
    },
    changeConversation: async (call) => {
      const { tools: given, ...change } = call.body;
      const tools = rulesOf(given);
      if (tools) await chatTools.check(call, tools);
      const named = { ...change, ...(tools && { tools }) };
      return toConversation(await conversations.change(ownerOf(call), call.params.id, named));
    },
    deleteConversation: async (call) => {
      await conversations.remove(ownerOf(call), call.params.id);
      return { success: true, message: 'the conversation was deleted' };
    },
    branchConversation: async (call) => {
      const { message_id: messageId, title } = call.body;
      const options = { messageId, ...(title !== undefined && { title }) };
      return toConversation(await conversations.branch(ownerOf(call), call.params.id, options));
    },
  };
}

/** Whether messages follow behind those that were read. */
function nextOf({ messageCount }: Conversation, messages: readonly Message[]) {
  const last = messages.at(-1)?.place;
  return last !== undefined && last < messageCount ? { next: last } : {};
}

type GivenRules = Pick<ToolRules, 'allow'> & Partial<Pick<ToolRules, 'approval'>>;

function rulesOf(given: GivenRules | undefined): ToolRules | undefined {
  return given && { allow: given.allow, approval: given.approval ?? 'writes' };
}

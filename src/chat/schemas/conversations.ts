import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { nullable } from './nullable.ts';

/** Interactive users' own conversations, a page of which is at most this long. */
export const pageMax = 100;
/** Of texts that a conversation is given, by whichever way. */
export const conversationLimits = { titleLengthMax: 200, modelLengthMax: 256 } as const;

const { titleLengthMax, modelLengthMax } = conversationLimits;
const messagesMax = 1_000;
const contentLengthMax = 1024 * 1024;
/** A conversation that is brought along with its messages. */
const bodyBytesMax = 12 * 1024 * 1024;

const time = Type.String({ format: 'date-time' });
const id = Type.String({ maxLength: 100, description: 'of a conversation' });
const title = Type.String({
  minLength: 1,
  maxLength: titleLengthMax,
  pattern: '\\S',
  description: 'a text that is not blank',
});
const model = Type.String({
  minLength: 1,
  maxLength: modelLengthMax,
  description: 'what answers where a message names none',
});

export const ToolRulesSchema = Type.Object(
  {
    allow: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 256,
      description: '`connection__tool`, or `connection__*` for all of a connection',
    }),
    approval: Type.Optional(
      Type.Enum(['writes', 'always', 'never'], {
        default: 'writes',
        description:
          '`writes` asks before each call that may change something, `always` before each',
      }),
    ),
  },
  { $id: 'ToolRules' },
);

export const UsageSchema = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cost: Type.Optional(Type.Number({ description: 'US dollars' })),
});

export const MessageSchema = Type.Object(
  {
    id: Type.String(),
    role: Type.String({ description: '`system`, `user`, `assistant` or `tool`' }),
    content: Type.String(),
    timestamp: time,
    place: Type.Integer({ description: 'its number in the conversation, from 1' }),
    status: Type.String({
      description:
        '`complete`; `pending` while its turn runs; `stopped` by its user or `interrupted` by a failure: then the content is what there was until then',
    }),
    model: Type.Optional(Type.String()),
    usage: Type.Optional(UsageSchema),
    parts: Type.Optional(
      Type.Array(Type.Unknown(), { description: "of OpenAI's API, where it is more than a text" }),
    ),
    tool_calls: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          arguments: Type.String({ description: 'JSON, as the model wrote it' }),
        }),
      ),
    ),
    tool_call_id: Type.Optional(Type.String({ description: "of a tool's result" })),
    turn_id: Type.Optional(Type.String()),
  },
  { $id: 'Message' },
);

const summaryFields = {
  id: Type.String(),
  title: Type.String(),
  created_at: time,
  updated_at: time,
  message_count: Type.Integer(),
  model: Type.String({
    description: 'what answers where a message names none; `auto-route`: the gateway chooses',
  }),
  total_tokens: Type.Integer({ description: 'of all its answers, copied ones too' }),
  cost: Type.Number({ description: 'US dollars, of all its answers' }),
  tools: Type.Optional(ToolRulesSchema),
  branched_from: Type.Optional(
    Type.Object({ conversation_id: Type.String(), message_id: Type.String() }),
  ),
};

export const ConversationSchema = Type.Object(summaryFields, { $id: 'Conversation' });

const next = Type.Optional(
  Type.Integer({ description: 'the `after` of the next page; absent when there is none' }),
);

const detail = Type.Object(
  { ...summaryFields, messages: Type.Array(MessageSchema), next },
  { $id: 'ConversationDetail' },
);

const params = Type.Object({ id });

const after = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  default: 0,
  description: 'the place behind which it begins',
});

const newMessage = Type.Object({
  role: Type.Enum(['system', 'user', 'assistant']),
  content: Type.String({ minLength: 1, maxLength: contentLengthMax }),
});

/** Conversations of the caller; those of others are not there. */
export const conversationRoutes = {
  listConversations: {
    method: 'GET',
    url: '/api/conversations',
    summary: 'List conversations, those that were used last first',
    schema: {
      query: Type.Object(pageQuery({ max: pageMax })),
      response: {
        200: Type.Object({
          conversations: Type.Array(ConversationSchema),
          ...pageAnswer,
        }),
      },
    },
  },
  createConversation: {
    method: 'POST',
    url: '/api/conversations',
    summary: 'Create a conversation',
    description: 'Without a title the first message of a user gives it one.',
    bodyBytesMax,
    schema: {
      body: Type.Object({
        title: nullable(title),
        model: nullable(model),
        tools: Type.Optional(ToolRulesSchema),
        messages: Type.Optional(
          Type.Array(newMessage, {
            maxItems: messagesMax,
            description: 'what was said before; nothing answers them',
          }),
        ),
      }),
      response: { 201: ConversationSchema },
    },
  },
  readConversation: {
    method: 'GET',
    url: '/api/conversations/:id',
    summary: 'Read a conversation with its messages',
    description:
      'All messages up to 10,000 or 16 MiB of text, or `limit` of them; `next` is there when more follow.',
    schema: {
      params,
      query: Type.Object({
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 10_000,
            description: 'at most so many messages; all of them when absent',
          }),
        ),
        after,
      }),
      response: { 200: detail },
    },
  },
  changeConversation: {
    method: 'PATCH',
    url: '/api/conversations/:id',
    summary: 'Rename a conversation, or change its model or tools',
    schema: {
      params,
      body: Type.Object(
        {
          title: Type.Optional(title),
          model: Type.Optional(
            Type.Union([model, Type.Null()], { description: 'null: the gateway chooses again' }),
          ),
          tools: Type.Optional(ToolRulesSchema),
        },
        { minProperties: 1 },
      ),
      response: { 200: ConversationSchema },
    },
  },
  deleteConversation: {
    method: 'DELETE',
    url: '/api/conversations/:id',
    summary: 'Delete a conversation with all its messages',
    description: 'What still answers in it is stopped.',
    schema: {
      params,
      response: { 200: Type.Object({ success: Type.Literal(true), message: Type.String() }) },
    },
  },
  listMessages: {
    method: 'GET',
    url: '/api/conversations/:id/messages',
    summary: 'Read messages of a conversation, in their order',
    schema: {
      params,
      query: Type.Object({
        limit: Type.Integer({
          minimum: 1,
          maximum: messagesMax,
          default: 100,
          description: 'at most so many messages',
        }),
        after,
      }),
      response: {
        200: Type.Object({ messages: Type.Array(MessageSchema), total: Type.Integer(), next }),
      },
    },
  },
  branchConversation: {
    method: 'POST',
    url: '/api/conversations/:id/branch',
    summary: 'Go on from an earlier message in a conversation of its own',
    description:
      'The messages up to this one are copied, without calls of tools that have no result among them.',
    schema: {
      params,
      body: Type.Object({ message_id: id, title: Type.Optional(title) }),
      response: { 201: ConversationSchema },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

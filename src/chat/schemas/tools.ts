import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { toolPermissions } from '../tools/registry-tools.ts';
import { callIdLengthMax } from '../turns/model-answer.ts';
import { ToolRulesSchema } from './conversations.ts';

const conversationParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 128, description: 'of a conversation' }),
});

const tool = Type.Object(
  {
    name: Type.String({ description: '`connection__tool`, as it is allowed' }),
    model_name: Type.String({
      description: 'what models are told; another name where providers would not take the first',
    }),
    connection: Type.String(),
    title: Type.Optional(Type.String()),
    description: Type.String(),
    needs_approval: Type.Boolean({
      description: 'whether a call waits for its user; of `GET /api/tools` under `writes`',
    }),
  },
  { $id: 'ChatTool' },
);

const conversationTools = Type.Object(
  {
    allow: Type.Array(Type.String()),
    approval: Type.Enum(['writes', 'always', 'never']),
    tools: Type.Array(tool, { description: 'what models are told of: at most 128' }),
    left_out: Type.Array(Type.String(), {
      description: 'allowed too, but more than a model is told of',
    }),
    missing: Type.Array(Type.String(), { description: 'allowed, but not there now' }),
  },
  { $id: 'ConversationTools' },
);

const turnState = Type.Object({
  turn_id: Type.String(),
  conversation_id: Type.String(),
  message_id: Type.String({ description: 'of the answer' }),
  status: Type.String({
    description: '`waiting` until all calls are answered, then `running` and the turn’s end',
  }),
});

/** The registry's tools in conversations. */
export const toolRoutes = {
  listTools: {
    method: 'GET',
    url: '/api/tools',
    summary: 'List the tools that a conversation may be allowed',
    description: 'All tools of the registry’s active servers, in the order of its own list.',
    permission: toolPermissions,
    schema: {
      query: Type.Object({
        connection: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 64,
            description: 'only the tools of this MCP server, by its name',
          }),
        ),
        ...pageQuery({ max: 1_000, usual: 100 }),
      }),
      response: {
        200: Type.Object({
          tools: Type.Array(tool),
          ...pageAnswer,
        }),
      },
    },
  },
  readConversationTools: {
    method: 'GET',
    url: '/api/conversations/:id/tools',
    summary: 'Say which tools a conversation may use',
    schema: { params: conversationParams, response: { 200: conversationTools } },
  },
  setConversationTools: {
    method: 'PUT',
    url: '/api/conversations/:id/tools',
    summary: 'Say which tools a conversation may use, and which calls wait for its user',
    description:
      'Needs `registry:call` or `agent:execute` unless nothing is allowed. A call is made with the rights of whoever asks at that time.',
    schema: {
      params: conversationParams,
      body: ToolRulesSchema,
      response: { 200: conversationTools },
    },
  },
  listApprovals: {
    method: 'GET',
    url: '/api/conversations/:id/approvals',
    summary: 'List the calls of tools that wait for their user',
    schema: {
      params: conversationParams,
      response: {
        200: Type.Object({
          turn_id: Type.Optional(Type.String({ description: 'absent: nothing waits' })),
          approvals: Type.Array(
            Type.Object({
              call_id: Type.String(),
              message_id: Type.String(),
              name: Type.String({ description: 'as the model was told it' }),
              arguments: Type.String({ description: 'JSON, as the model wrote it' }),
            }),
          ),
        }),
      },
    },
  },
  answerApprovals: {
    method: 'POST',
    url: '/api/conversations/:id/approvals',
    summary: 'Approve or refuse calls of tools',
    description:
      'The turn goes on once all of its calls are answered; a refusal is told to the model. To approve needs `registry:call` or `agent:execute`.',
    schema: {
      params: conversationParams,
      body: Type.Object({
        turn_id: Type.String({ minLength: 1, maxLength: 128 }),
        answers: Type.Array(
          Type.Object({
            call_id: Type.String({ minLength: 1, maxLength: callIdLengthMax }),
            approved: Type.Boolean(),
          }),
          { minItems: 1, maxItems: 256 },
        ),
      }),
      response: { 200: turnState },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

import { Type, type Static } from 'typebox';
import { nullable } from '../optional-fields.ts';
import { AnyKey } from '../../kit/any-key.ts';

const Name = Type.String({ minLength: 1, maxLength: 128 });

/** Of another type than `text` it reaches models that see and hear; the local ones refuse it. */
const ContentPart = Type.Object(
  {
    type: Type.String({ maxLength: 64 }),
    text: Type.Optional(Type.String()),
    refusal: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);
export type ContentPart = Static<typeof ContentPart>;

export const ToolCall = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 256 }),
    type: Type.Literal('function'),
    function: Type.Object({
      name: Name,
      arguments: Type.String({ maxLength: 1024 * 1024, description: 'a JSON object, as text' }),
    }),
  },
  { $id: 'ToolCall' },
);
export type ToolCall = Static<typeof ToolCall>;

export const ChatMessage = Type.Object(
  {
    role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: nullable(
      Type.Union([Type.String(), Type.Array(ContentPart, { minItems: 1, maxItems: 256 })]),
    ),
    refusal: nullable(
      Type.String({ description: 'what an assistant said in place of an answer, or behind it' }),
    ),
    tool_calls: nullable(Type.Array(ToolCall, { maxItems: 128 })),
    tool_call_id: nullable(Type.String({ minLength: 1, maxLength: 256 })),
  },
  { $id: 'ChatMessage' },
);
export type ChatMessage = Static<typeof ChatMessage>;

const Json = Type.Record(AnyKey, Type.Unknown());

const Tool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object({
      name: Name,
      description: nullable(Type.String({ maxLength: 16_384 })),
      parameters: nullable(Json),
      strict: nullable(Type.Boolean()),
    }),
  },
  { $id: 'Tool' },
);

const ToolChoice = Type.Union([
  Type.Enum(['none', 'auto', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Name }) }),
]);

const ResponseFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  json_schema: Type.Optional(
    Type.Object({
      name: Type.Optional(Name),
      schema: nullable(Json),
      strict: nullable(Type.Boolean()),
    }),
  ),
});

/** What chats and texts take alike. */
export const samplingFields = {
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  frequency_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  seed: nullable(Type.Integer()),
  stop: nullable(
    Type.Union([
      Type.String({ minLength: 1, maxLength: 256 }),
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 16 }),
    ]),
  ),
  top_k: nullable(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'as llama.cpp takes it' }),
  ),
  min_p: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'as llama.cpp takes it' })),
  repeat_penalty: nullable(
    Type.Number({ exclusiveMinimum: 0, maximum: 10, description: 'as llama.cpp takes it' }),
  ),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(Type.Object({ include_usage: nullable(Type.Boolean()) })),
};

/** Within what a runtime can count. */
export const TokenCount = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

/** A chat completion as OpenAI's API words it. */
export const ChatRequest = Type.Object(
  {
    model: nullable(Type.String({ minLength: 1, maxLength: 256 })),
    messages: Type.Array(ChatMessage, { minItems: 1, maxItems: 2048 }),
    max_tokens: nullable(TokenCount),
    max_completion_tokens: nullable(TokenCount),
    ...samplingFields,
    tools: nullable(Type.Array(Tool, { maxItems: 128 })),
    tool_choice: nullable(ToolChoice),
    parallel_tool_calls: nullable(Type.Boolean({ description: 'false: at most one call' })),
    response_format: nullable(ResponseFormat),
  },
  // What a model does not know is refused by name, so it must be seen.
  { $id: 'ChatRequest', additionalProperties: true },
);
export type ChatRequest = Static<typeof ChatRequest>;

const Thought = Type.Optional(
  Type.String({ description: 'what the model thought, of runtimes that keep it apart' }),
);

const FinishReason = Type.Enum(['stop', 'length', 'tool_calls']);

export const Usage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    prompt_tokens_details: Type.Optional(
      Type.Object({
        cached_tokens: Type.Integer({ description: 'remembered from an earlier prompt' }),
      }),
    ),
  },
  { $id: 'Usage' },
);

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: Type.Union([Type.String(), Type.Null()]),
          reasoning_content: Thought,
          refusal: Type.Null(),
          tool_calls: Type.Optional(Type.Array(ToolCall)),
        }),
        logprobs: Type.Null(),
        finish_reason: FinishReason,
      }),
    ),
    usage: Usage,
  },
  { $id: 'ChatCompletion' },
);
export type ChatCompletion = Static<typeof ChatCompletion>;

/** A call comes as a head with its name, then its arguments. */
const ToolCallDelta = Type.Object({
  index: Type.Integer(),
  id: Type.Optional(Type.String()),
  type: Type.Optional(Type.Literal('function')),
  function: Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() }),
});

/** One chunk of a streamed completion; the last one has the usage and no choices. */
export const ChatChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({
          role: Type.Optional(Type.Literal('assistant')),
          content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          reasoning_content: Thought,
          tool_calls: Type.Optional(Type.Array(ToolCallDelta)),
        }),
        logprobs: Type.Null(),
        finish_reason: Type.Union([FinishReason, Type.Null()]),
      }),
    ),
    usage: Type.Optional(Type.Union([Usage, Type.Null()])),
  },
  { $id: 'ChatChunk' },
);
export type ChatChunk = Static<typeof ChatChunk>;

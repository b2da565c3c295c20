import { Type, type Static } from 'typebox';
import { nullable } from '../optional-fields.ts';
import { AnyKey } from '../../kit/any-key.ts';

export const ModelName = Type.String({ minLength: 1, maxLength: 256 });

const Json = Type.Record(AnyKey, Type.Unknown());

export const KeepAlive = nullable(
  Type.Union([Type.Number(), Type.String({ maxLength: 64 })], {
    description: 'seconds, or a duration such as `5m`; 0 unloads at once, less than 0 never does',
  }),
);

const Stop = Type.String({ minLength: 1, maxLength: 256 });

/** Options beyond these belong to the machine and have no effect here, or are refused by name. */
const Options = Type.Object(
  {
    temperature: nullable(Type.Number({ minimum: 0, maximum: 10 })),
    top_k: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    min_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    seed: nullable(Type.Integer({ description: '-1 is a random one' })),
    num_predict: nullable(
      Type.Integer({
        minimum: -2,
        maximum: 2 ** 31 - 1,
        description: '-1, -2: what the context leaves',
      }),
    ),
    num_ctx: nullable(
      Type.Integer({ minimum: 1, description: 'at most what the model was made for' }),
    ),
    stop: nullable(Type.Union([Stop, Type.Array(Stop, { maxItems: 16 })])),
    repeat_penalty: nullable(Type.Number({ exclusiveMinimum: 0, maximum: 10 })),
    presence_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: nullable(Type.Number({ minimum: -2, maximum: 2 })),
  },
  { $id: 'OllamaOptions', additionalProperties: true },
);
export type Options = Static<typeof Options>;

/** What texts and chats take alike. */
const requestFields = {
  model: ModelName,
  stream: nullable(Type.Boolean({ description: 'true when absent' })),
  format: nullable(
    Type.Union([Type.String({ maxLength: 64 }), Json], {
      description: '`json`, or the JSON schema that the answer must fit',
    }),
  ),
  options: nullable(Options),
  keep_alive: KeepAlive,
};

export const GenerateBody = Type.Object(
  {
    ...requestFields,
    prompt: nullable(Type.String({ description: 'empty loads the model, or unloads it' })),
    system: nullable(Type.String()),
    raw: nullable(Type.Boolean({ description: 'the prompt is continued as it stands' })),
  },
  // What a model does not know is refused by name, so it must be seen.
  { $id: 'OllamaGenerateRequest', additionalProperties: true },
);
export type GenerateBody = Static<typeof GenerateBody>;

const Call = Type.Object({
  id: nullable(Type.String({ minLength: 1, maxLength: 256 })),
  function: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    arguments: nullable(Json),
  }),
});

const Message = Type.Object(
  {
    role: Type.Enum(['system', 'user', 'assistant', 'tool']),
    content: nullable(Type.String()),
    images: nullable(Type.Array(Type.Unknown(), { maxItems: 64 })),
    tool_calls: nullable(Type.Array(Call, { maxItems: 128 })),
    tool_name: nullable(Type.String({ maxLength: 128 })),
    tool_call_id: nullable(Type.String({ maxLength: 256 })),
  },
  { $id: 'OllamaMessage' },
);
export type Message = Static<typeof Message>;

const Tool = Type.Object({
  type: Type.Literal('function'),
  function: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    description: nullable(Type.String({ maxLength: 16_384 })),
    parameters: nullable(Json),
  }),
});
export type Tool = Static<typeof Tool>;

export const ChatBody = Type.Object(
  {
    ...requestFields,
    messages: nullable(
      Type.Array(Message, { maxItems: 2048, description: 'none load the model, or unload it' }),
    ),
    tools: nullable(Type.Array(Tool, { maxItems: 128 })),
  },
  { $id: 'OllamaChatRequest', additionalProperties: true },
);
export type ChatBody = Static<typeof ChatBody>;

const Nanoseconds = Type.Optional(Type.Integer({ description: 'nanoseconds' }));

/** What every line begins with. */
const headFields = {
  model: Type.String(),
  created_at: Type.String({ description: 'ISO 8601, UTC' }),
};

/** What every line ends with; all but `done` only in the last one. */
const endFields = {
  done: Type.Boolean(),
  done_reason: Type.Optional(Type.Enum(['stop', 'length', 'load', 'unload'])),
  total_duration: Nanoseconds,
  load_duration: Nanoseconds,
  prompt_eval_count: Type.Optional(Type.Integer({ description: 'tokens of the prompt' })),
  prompt_eval_duration: Nanoseconds,
  eval_count: Type.Optional(Type.Integer({ description: 'tokens of the answer' })),
  eval_duration: Nanoseconds,
};

const Thought = Type.Optional(
  Type.String({ description: 'what the model thought, of runtimes that keep it apart' }),
);

export const GenerateLine = Type.Object(
  { ...headFields, response: Type.String(), thinking: Thought, ...endFields },
  { $id: 'OllamaGenerateAnswer' },
);
export type GenerateLine = Static<typeof GenerateLine>;

const AnswerCall = Type.Object({
  id: Type.String(),
  function: Type.Object({ index: Type.Integer(), name: Type.String(), arguments: Json }),
});

export const ChatLine = Type.Object(
  {
    ...headFields,
    message: Type.Object({
      role: Type.Literal('assistant'),
      content: Type.String(),
      thinking: Thought,
      tool_calls: Type.Optional(Type.Array(AnswerCall)),
    }),
    ...endFields,
  },
  { $id: 'OllamaChatAnswer' },
);
export type ChatLine = Static<typeof ChatLine>;

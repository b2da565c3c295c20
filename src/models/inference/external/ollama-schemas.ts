import { Type, type Static } from 'typebox';
import { AnyKey } from '../../../kit/any-key.ts';

const Count = Type.Optional(Type.Number({ minimum: 0 }));

const Details = Type.Optional(
  Type.Object({
    family: Type.Optional(Type.String()),
    quantization_level: Type.Optional(Type.String()),
  }),
);

export const Tags = Type.Object({
  models: Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1 }),
      size: Type.Number({ minimum: 0 }),
      digest: Type.Optional(Type.String()),
      modified_at: Type.String(),
      details: Details,
    }),
  ),
});
export type Tag = Static<typeof Tags>['models'][number];

export const Shown = Type.Object({
  capabilities: Type.Optional(Type.Array(Type.String())),
  model_info: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
});
export type Shown = Static<typeof Shown>;

export const Running = Type.Object({
  models: Type.Array(
    Type.Object({
      name: Type.String(),
      size: Type.Number({ minimum: 0 }),
      expires_at: Type.Optional(Type.String()),
      context_length: Type.Optional(Type.Number()),
    }),
  ),
});

/** A line of `/api/chat` or of `/api/generate`. */
export const Line = Type.Object({
  response: Type.Optional(Type.String()),
  thinking: Type.Optional(Type.String()),
  message: Type.Optional(
    Type.Object({
      content: Type.Optional(Type.String()),
      thinking: Type.Optional(Type.String()),
      tool_calls: Type.Optional(
        Type.Array(
          Type.Object({
            id: Type.Optional(Type.String()),
            function: Type.Object({
              name: Type.String(),
              arguments: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
            }),
          }),
        ),
      ),
    }),
  ),
  done: Type.Boolean(),
  done_reason: Type.Optional(Type.String()),
  total_duration: Count,
  load_duration: Count,
  prompt_eval_count: Count,
  prompt_eval_duration: Count,
  eval_count: Count,
  eval_duration: Count,
});
export type Line = Static<typeof Line>;

export const Embedded = Type.Object({
  embeddings: Type.Array(Type.Array(Type.Number())),
  prompt_eval_count: Count,
  load_duration: Count,
  total_duration: Count,
});

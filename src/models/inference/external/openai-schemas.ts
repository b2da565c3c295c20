import { Type, type Static } from 'typebox';

export const Models = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String({ minLength: 1 }),
      created: Type.Optional(Type.Number()),
      // What llama-server adds.
      meta: Type.Optional(
        Type.Union([
          Type.Null(),
          Type.Object({
            n_ctx_train: Type.Optional(Type.Number()),
            n_embd: Type.Optional(Type.Number()),
            n_params: Type.Optional(Type.Number()),
            size: Type.Optional(Type.Number()),
          }),
        ]),
      ),
      // What Ennead adds.
      capabilities: Type.Optional(Type.Array(Type.String())),
      context_length: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    }),
  ),
});
export type Card = Static<typeof Models>['data'][number];

const CallDelta = Type.Object({
  index: Type.Optional(Type.Integer({ minimum: 0 })),
  id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  function: Type.Optional(
    Type.Object({
      name: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      arguments: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
  ),
});
export type CallDelta = Static<typeof CallDelta>;

/** A chunk of a chat, or of a text. */
export const Chunk = Type.Object({
  choices: Type.Array(
    Type.Object({
      text: Type.Optional(Type.String()),
      delta: Type.Optional(
        Type.Object({
          content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          refusal: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          // Of llama-server and older vLLM; newer vLLM says `reasoning`.
          reasoning_content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          reasoning: Type.Optional(Type.Union([Type.String(), Type.Null()])),
          tool_calls: Type.Optional(Type.Union([Type.Array(CallDelta), Type.Null()])),
        }),
      ),
      finish_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
  ),
  usage: Type.Optional(
    Type.Union([
      Type.Null(),
      Type.Object({
        prompt_tokens: Type.Number(),
        completion_tokens: Type.Number(),
        prompt_tokens_details: Type.Optional(
          Type.Union([Type.Null(), Type.Object({ cached_tokens: Type.Optional(Type.Number()) })]),
        ),
      }),
    ]),
  ),
  // What llama-server adds to the last one.
  timings: Type.Optional(
    Type.Object({
      prompt_ms: Type.Number(),
      predicted_ms: Type.Number(),
      prompt_n: Type.Optional(Type.Number()),
      predicted_n: Type.Optional(Type.Number()),
      cache_n: Type.Optional(Type.Number()),
    }),
  ),
});
export type Chunk = Static<typeof Chunk>;

export const EmbeddingList = Type.Object({
  data: Type.Array(Type.Object({ index: Type.Integer(), embedding: Type.Array(Type.Number()) })),
  usage: Type.Optional(Type.Object({ prompt_tokens: Type.Optional(Type.Number()) })),
});

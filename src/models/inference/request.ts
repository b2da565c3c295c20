/** A JSON schema (draft 2020-12) as far as a grammar can be made of it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A call of a tool that a model wants, or wanted earlier in the chat. */
export interface ToolCall {
  /** Names the call within the chat. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  /** What a tool answered. */
  | { readonly role: 'tool'; readonly content: string; readonly callId: string };

/** A tool that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** Schema of the arguments, an object; absent when there are none. */
  readonly parameters?: JsonSchema;
  /** Whether calls are bound to the schema; else it guides the model as far as a grammar can hold it. */
  readonly isStrict?: boolean;
}

/** Messages go through the model's chat template; text is continued as it stands. */
export type Prompt = { readonly messages: readonly ChatMessage[] } | { readonly text: string };

/** How the answer must read: any JSON, or JSON of a schema. The model cannot write anything else. */
export type AnswerFormat = { readonly type: 'json'; readonly schema?: JsonSchema };

/** One generation. Options that are absent have the defaults given; none is ignored in silence. */
export interface GenerateRequest {
  readonly prompt: Prompt;
  /** Only with messages. */
  readonly tools?: readonly Tool[];
  /** `auto` by default: the model decides. `required` and a name make it call. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly format?: AnswerFormat;
  /** Default and upper bound: what the prompt leaves of the context. */
  readonly maxTokens?: number;
  /** 0 is greedy. Default 0.8. */
  readonly temperature?: number;
  /** Default 0.95. */
  readonly topP?: number;
  /** 0 looks at the whole vocabulary. Default 40. */
  readonly topK?: number;
  /** Tokens less likely than this share of the likeliest are left out. Default 0. */
  readonly minP?: number;
  /** Of the last 64 tokens. 1 does nothing. Default 1. */
  readonly repeatPenalty?: number;
  /** -2..2, default 0. */
  readonly frequencyPenalty?: number;
  /** -2..2, default 0. */
  readonly presencePenalty?: number;
  /**
   * Taken modulo 2^32; random when absent. Without effect at temperature 0. The same seed gives the
   * same text while the request runs alone: neighbours in the batch change the rounding. With a
   * seed the prompt is always read anew, as a remembered one is rounded otherwise, too.
   */
  readonly seed?: number;
  /** The text ends before the first of these, wherever the tokens split it. */
  readonly stop?: readonly string[];
  /** From the call to the last token, waiting and loading included. Default ten minutes. */
  readonly deadlineMs?: number;
  /** How long the model stays in memory after this; as it was asked before, else the runtime's setting. */
  readonly keepAliveMs?: number;
}

export interface Usage {
  /** Tokens of the prompt, template and begin mark included. */
  readonly promptTokens: number;
  /** Tokens sampled, without the end mark; those of a stop text count. */
  readonly completionTokens: number;
  /** Of the prompt's tokens, those remembered from an earlier prompt of the same caller. */
  readonly cachedPromptTokens?: number;
}

export interface Timings {
  /** How long this request waited for the model to load; next to nothing when it was loaded. */
  readonly loadMs: number;
  /** From the start of the evaluation to the first token. */
  readonly promptMs: number;
  readonly generateMs: number;
  /** From the request to the end, of a runtime that says so; else whoever was asked measures it. */
  readonly totalMs?: number;
}

export interface GenerateEnd {
  readonly type: 'end';
  /** `stop`: the model's end mark or a stop text. `length`: `maxTokens` or the context ran out. */
  readonly finishReason: 'stop' | 'length' | 'tool-calls';
  readonly usage: Usage;
  readonly timings: Timings;
}

/** Any number of texts, each of whole characters, and of tool calls, each whole; then one end. */
export type SpokenEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: ToolCall }
  | GenerateEnd;

/** The same with what the model thought, of external runtimes that keep it apart from the text. */
export type GenerateEvent = SpokenEvent | { readonly type: 'reasoning'; readonly text: string };

/** Vectors of texts, in their order. */
export interface Embeddings {
  readonly vectors: readonly Float32Array[];
  readonly dimensions: number;
  /** Whether each vector has length 1. */
  readonly isNormalised: boolean;
  /** Tokens read, all texts together. */
  readonly tokens: number;
  readonly timings: { readonly loadMs: number; readonly evalMs: number };
}

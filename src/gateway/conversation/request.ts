/** A chat in no dialect's words: what every face reads into and every upstream dialect writes from. */
export interface ChatRequest {
  /** As asked: a name, `<provider>/<name>`, or `auto-route`. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  /** False: at most one call in an answer. */
  readonly allowsParallelCalls?: boolean | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  /** How many answers; 1 when absent. */
  readonly choices?: number | undefined;
  readonly output?: OutputFormat | undefined;
  readonly reasoning?: Reasoning | undefined;
  readonly isStream: boolean;
  /** Streams only, OpenAI's `stream_options.include_usage`: the client wants the usage chunk. */
  readonly wantsUsage?: boolean | undefined;
  /**
   * The body holds what only this gateway understands, such as the thoughts of another provider:
   * even an upstream of the face's own dialect must get it translated.
   */
  readonly needsTranslation?: boolean | undefined;
  /**
   * Fields of the request that stand in none of the above, by their names: an upstream of the same
   * dialect gets them as they came, any other can refuse them by name. What lies deeper has its
   * place for a name: `messages[2].prefix`, `tools[0]`.
   */
  readonly extras: Readonly<Record<string, unknown>>;
  /** Whose words `extras` are: what an upstream of that dialect may be sent as it is. */
  readonly extrasDialect?: 'openai' | 'anthropic' | undefined;
  /** What the client calls the fields that are named here as in OpenAI's chat completions. */
  readonly fieldNames?: Readonly<Record<string, string | undefined>> | undefined;
  /** Fields that the face repeats in its answer, as they came; no upstream looks at them. */
  readonly echo?: Readonly<Record<string, unknown>> | undefined;
}

export type Message =
  | { readonly role: 'system'; readonly parts: readonly TextPart[]; readonly name?: string }
  | { readonly role: 'user'; readonly parts: readonly UserPart[]; readonly name?: string }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[]; readonly name?: string }
  | { readonly role: 'tool'; readonly parts: readonly ToolResultPart[] };

export type UserPart = TextPart | ImagePart | FilePart | AudioPart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart;

/** Asks the provider to remember the prompt up to here; Anthropic's `cache_control`. */
export interface CacheMark {
  /** `5m` or `1h`; the provider's default when absent. */
  readonly ttl?: string;
}

/** A page that a text of an answer names; `start` and `end` are of the words, in characters. */
export interface Citation {
  readonly url: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** Of answers only. */
  readonly citations?: readonly Citation[] | undefined;
  readonly cache?: CacheMark | undefined;
}

/** Bytes that come along, as base64, or the address where they lie. */
export type Source =
  | { readonly kind: 'bytes'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string };

/** What an upstream may have to refuse by its place. */
export interface Placed {
  /** Where the body says it, such as `messages[2].content[0].image_url`; absent where no face read it. */
  readonly at?: string | undefined;
}

export interface ImagePart extends Placed {
  readonly type: 'image';
  readonly source: Source;
  /** OpenAI's `auto`, `low` or `high`. */
  readonly detail?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

/** A document, PDF in use. */
export interface FilePart extends Placed {
  readonly type: 'file';
  readonly source: Source;
  readonly name?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface AudioPart extends Placed {
  readonly type: 'audio';
  /** `wav` or `mp3`. */
  readonly format: string;
  readonly base64: string;
}

/** What a model thought before it answered. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  /** The provider's proof that the text is its own; it must come back unchanged. */
  readonly signature?: string | undefined;
  /** Encrypted thought, in place of the text. */
  readonly redacted?: string | undefined;
}

export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** A JSON object, as text, exactly as the model wrote it. */
  readonly arguments: string;
  /** Gemini's thought signature; it must come back unchanged. */
  readonly signature?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly callId: string;
  readonly content: readonly (TextPart | ImagePart)[];
  readonly isError?: boolean | undefined;
  readonly cache?: CacheMark | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isStrict?: boolean | undefined;
  /** Where the body says `isStrict`; absent where it does not, or no face read it. */
  readonly strictAt?: string | undefined;
  readonly cache?: CacheMark | undefined;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export type OutputFormat =
  | { readonly type: 'json' }
  | {
      readonly type: 'schema';
      readonly name: string;
      /** For the model; of no use to dialects that only hold an answer to the schema. */
      readonly description?: string | undefined;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly isStrict?: boolean | undefined;
    };

/** How much a model is to think. */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high` or `xhigh`. */
  readonly effort?: string | undefined;
  readonly budgetTokens?: number | undefined;
}

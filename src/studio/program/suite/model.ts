import { Fault } from '../../../kit/errors.ts';
import { storable } from '../storable.ts';
import type { SuiteCalls } from './suite-calls.ts';

/** A message in OpenAI's words. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Completed {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The model had no room for all that it wanted to say. */
  readonly isCut: boolean;
}

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The model asked for cannot call tools; the request is worth asking without them. */
export const noTools = 'model_without_tools';

/** A model takes long to say much; a task's own time ends it before that where there is less. */
const timeoutMs = 280_000;

/** The gateway's chats for one task, and what they took together. */
export class Model {
  readonly #calls: SuiteCalls;
  readonly #wanted: string | undefined;
  #promptTokens = 0;
  #completionTokens = 0;
  #name: string | undefined;

  constructor(calls: SuiteCalls, wanted: string | undefined) {
    this.#calls = calls;
    this.#wanted = wanted;
  }

  /** Fault `invalid` with the reason `noTools` where the model that answers cannot call tools. */
  async ask(
    messages: readonly ChatMessage[],
    tools: readonly ToolOffer[] = [],
  ): Promise<Completed> {
    const body = {
      messages: storable(messages),
      ...(this.#wanted === undefined ? {} : { model: this.#wanted }),
      ...(tools.length === 0
        ? {}
        : { tools: tools.map((one) => ({ type: 'function', function: one })) }),
    };
    const path = '/api/v1/chat/completions';
    const call = { method: 'POST', path, body, timeoutMs, isRepeatable: true } as const;
    const answer = await this.#calls.json(call).catch((error: unknown) => {
      throw tools.length > 0 && isAboutTools(error) ? withoutTools(error) : error;
    });
    return this.#read(answer as Answer);
  }

  /** What the answer of a task says of the model. */
  spent(): { readonly usage: Usage; readonly model?: string } {
    const usage = { promptTokens: this.#promptTokens, completionTokens: this.#completionTokens };
    return { usage, ...(this.#name === undefined ? {} : { model: this.#name }) };
  }

  #read({ model, usage, choices = [] }: Answer): Completed {
    this.#name = model ?? this.#name;
    this.#promptTokens += usage?.prompt_tokens ?? 0;
    this.#completionTokens += usage?.completion_tokens ?? 0;
    const [choice] = choices;
    if (!choice?.message) throw new Fault('upstream', 'The model gave no answer.');
    const { content, tool_calls: given } = choice.message;
    const calls = Array.isArray(given) ? given.filter(isToolCall) : [];
    return {
      text: typeof content === 'string' ? content : '',
      toolCalls: calls,
      isCut: choice.finish_reason === 'length',
    };
  }
}

interface Answer {
  readonly model?: string;
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number };
  readonly choices?: readonly {
    readonly message?: { readonly content?: unknown; readonly tool_calls?: unknown };
    readonly finish_reason?: string;
  }[];
}

function isToolCall(given: unknown): given is ToolCall {
  const { id, function: called } = (given ?? {}) as Partial<ToolCall>;
  return (
    typeof id === 'string' &&
    typeof called?.name === 'string' &&
    typeof called.arguments === 'string'
  );
}

/** The gateway names the parameter that no model it may ask can take. */
function isAboutTools(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'invalid') return false;
  return error.detail['param'] === 'tools' || /\btools?\b/.test(error.message);
}

function withoutTools(cause: unknown): Fault {
  return new Fault('invalid', 'The model cannot call tools.', { reason: noTools, cause });
}

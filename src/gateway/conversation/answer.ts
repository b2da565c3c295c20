import type { PricedUsage } from '../../kit/prices/prices.ts';
import type { AssistantPart, Citation } from './request.ts';

/** Why an answer ended. */
export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter';

/** What an answer took, as its provider counted it. */
export interface Usage extends PricedUsage {
  /** Of the output. */
  readonly reasoningTokens?: number | undefined;
}

export interface Choice {
  readonly index: number;
  readonly parts: readonly AssistantPart[];
  readonly finish: Finish;
  /** The stop sequence that ended it, where the provider says. */
  readonly stopSequence?: string | undefined;
  /** OpenAI's, as it came. */
  readonly logprobs?: unknown;
}

/** A whole answer in no dialect's words. */
export interface Answer {
  readonly id: string;
  /** As the provider names it. */
  readonly model: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly choices: readonly Choice[];
  readonly usage: Usage;
}

/** A piece of a streamed answer in no dialect's words. `choice` is the answer's index. */
export type AnswerEvent =
  | {
      readonly type: 'start';
      readonly id: string;
      readonly model: string;
      /** Unix seconds. */
      readonly createdAt: number;
      /** What is known of it already: Anthropic counts the prompt first. */
      readonly usage?: Usage | undefined;
    }
  | {
      readonly type: 'text';
      readonly choice: number;
      readonly text: string;
      /** Of this text and what stands in front of it. */
      readonly citations?: readonly Citation[] | undefined;
      /** OpenAI's, as it came. */
      readonly logprobs?: unknown;
    }
  | { readonly type: 'refusal'; readonly choice: number; readonly text: string }
  | {
      readonly type: 'reasoning';
      readonly choice: number;
      readonly text: string;
      readonly signature?: string | undefined;
      readonly redacted?: string | undefined;
    }
  | {
      /** The first of a call has its id and name; all carry a piece of the arguments. */
      readonly type: 'tool-call';
      readonly choice: number;
      /** Which call of the answer, from 0. */
      readonly call: number;
      readonly id?: string | undefined;
      readonly name?: string | undefined;
      readonly arguments: string;
      readonly signature?: string | undefined;
    }
  | {
      readonly type: 'finish';
      readonly choice: number;
      readonly finish: Finish;
      readonly stopSequence?: string | undefined;
    }
  /** Replaces what was said of it before. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The stream's own end was there, `[DONE]` or `message_stop`: nothing was cut off. */
  | { readonly type: 'end' };

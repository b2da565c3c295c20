import type { Answer, Choice, Finish } from '../../conversation/answer.ts';
import type { ToolCallPart } from '../../conversation/request.ts';
import { writeCitations } from '../../dialects/openai/citations.ts';
import { writeThoughts } from '../../dialects/openai/reasoning.ts';
import { writeUsage } from './write-usage.ts';

type Written = Record<string, unknown>;

const finishes: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
};

/** OpenAI's word for why an answer ended. */
export function writeFinish(finish: Finish): string {
  return finishes[finish];
}

/** An id of the form that OpenAI's have, as some write it; another provider's stays recognisable in it. */
export function chatId(id: string): string {
  return /^chatcmpl[-_]/.test(id) ? id : `chatcmpl-${id}`;
}

/** What a call has beyond its name and arguments: Gemini's proof, where Google's own face has it. */
export function writeProof(signature: string | undefined): Written | undefined {
  if (signature === undefined) return undefined;
  return { extra_content: { google: { thought_signature: signature } } };
}

/** A whole answer as a chat completion, its fields in the order of OpenAI's API. */
export function writeAnswer(answer: Answer): Written {
  return {
    id: chatId(answer.id),
    object: 'chat.completion',
    created: answer.createdAt,
    model: answer.model,
    choices: answer.choices.map(writeChoice),
    usage: writeUsage(answer.usage),
  };
}

function writeChoice({ index, parts, finish, logprobs }: Choice): Written {
  const text = joined(parts.filter((part) => part.type === 'text'));
  const refusal = joined(parts.filter((part) => part.type === 'refusal'));
  const calls = parts.filter((part) => part.type === 'tool-call');
  const isSilent = text === '' && (calls.length > 0 || refusal !== '');
  return {
    index,
    message: {
      role: 'assistant',
      content: isSilent ? null : text,
      refusal: refusal === '' ? null : refusal,
      ...writeThoughts(parts.filter((part) => part.type === 'reasoning')),
      ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }),
      annotations: writeCitations(
        parts.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : [])),
      ),
    },
    logprobs: logprobs ?? null,
    finish_reason: finishes[finish],
  };
}

function joined(parts: readonly { readonly text: string }[]): string {
  return parts.map(({ text }) => text).join('');
}

function writeCall({ id, name, arguments: text, signature }: ToolCallPart): Written {
  return {
    id,
    type: 'function',
    function: { name, arguments: text },
    ...writeProof(signature),
  };
}

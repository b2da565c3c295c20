import { Type, type Static } from 'typebox';
import type { Client } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { gatewayContract } from '../../../gateway/contract.ts';
import type { Component, NodeOutcome } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import { refuseModelCall } from './model-call.ts';
import { textOf, textSetting } from './text-setting.ts';

const modelName = Type.String({ minLength: 1, maxLength: 256 });
const jsonSchema = Type.Object(
  {},
  { additionalProperties: true, description: 'JSON Schema of what `json` shall be' },
);

const input = Type.Object(
  {
    prompt: Type.Optional(textSetting('what the user says; may name outputs of other nodes')),
    model: Type.Optional(
      Type.Union([modelName], { description: 'the gateway chooses when absent (`auto-route`)' }),
    ),
    system: Type.Optional(textSetting('what the model is told to be')),
    messages: Type.Optional(
      Type.Array(
        Type.Object({
          role: Type.Enum(['system', 'user', 'assistant']),
          content: textSetting('the text of the message'),
        }),
        { maxItems: 1_000, description: 'an earlier course of the chat, before the prompt' },
      ),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    responseFormat: Type.Optional(
      Type.Union([Type.Enum(['text', 'json']), jsonSchema], {
        description:
          '`json`, or a JSON Schema that the answer shall fit; the output has `json` then',
      }),
    ),
    fallbackModels: Type.Optional(
      Type.Array(modelName, {
        maxItems: 16,
        description: 'models to ask, in this order, when the first one fails',
      }),
    ),
  },
  {
    examples: [
      {
        system: 'You summarize in one sentence.',
        prompt: 'Summarize: {{ page.body }}',
        temperature: 0,
      },
      {
        prompt: 'Rate this text: {{ draft.text }}',
        responseFormat: {
          type: 'object',
          properties: { score: { type: 'number' } },
          required: ['score'],
        },
      },
    ],
  },
);
type Settings = Static<typeof input>;

/** What the LLM node asks. */
export type CompletionsClient = Pick<Client<typeof gatewayContract>, 'completions'>;

type Completion = Awaited<ReturnType<CompletionsClient['completions']>>;

/** Asks a model through the gateway. */
export function createLlmNode(gateway: CompletionsClient): Component {
  return defineComponent({
    name: 'LLMNode',
    group: 'ai',
    title: 'Language model',
    description:
      'Asks a language model through the gateway, which chooses one, goes on to others when it fails, and keeps to budgets. One of `prompt` and `messages` is needed. A model that takes too long fails as `MODEL_TIMEOUT`.',
    input,
    output: Type.Object({
      completion: Type.String({ description: 'what the model said' }),
      text: Type.String({ description: 'the same' }),
      json: Type.Optional(Type.Unknown({ description: 'the same read as JSON, where asked for' })),
      model: Type.String(),
      provider: Type.Optional(Type.String()),
      finishReason: Type.String({ description: '`stop`, `length` or `content_filter`' }),
      usage: Type.Object({
        promptTokens: Type.Integer(),
        completionTokens: Type.Integer(),
        totalTokens: Type.Integer(),
        cost: Type.Number({ description: 'US dollars' }),
      }),
    }),
    effect: 'repeatable',
    typicalMs: 4_000,
    timeoutMs: 120_000,
    run: async (settings, context) => {
      const body = toRequest(settings);
      const answer = await gateway
        .completions({ body }, callOptions(context))
        .catch(refuseModelCall);
      return toOutcome(answer, settings);
    },
  });
}

function toRequest(settings: Settings) {
  const { model = 'auto-route', temperature, maxTokens, fallbackModels } = settings;
  return {
    model,
    messages: readMessages(settings),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(fallbackModels && { fallbacks: fallbackModels }),
    ...formatOf(settings),
  };
}

function readMessages({ system, messages = [], prompt }: Settings) {
  const all = [
    ...(system === undefined ? [] : [{ role: 'system', content: textOf(system) }]),
    ...messages.map(({ role, content }) => ({ role, content: textOf(content) })),
    ...(prompt === undefined ? [] : [{ role: 'user', content: textOf(prompt) }]),
  ];
  if (all.some(({ role }) => role !== 'system')) return all;
  throw new Fault('invalid', 'one of prompt and messages is needed', {
    reason: 'bad_setting',
  });
}

function formatOf({ responseFormat }: Settings) {
  if (responseFormat === undefined || responseFormat === 'text') return {};
  if (responseFormat === 'json') return { response_format: { type: 'json_object' } };
  const schema = { name: 'answer', schema: responseFormat };
  return { response_format: { type: 'json_schema', json_schema: schema } };
}

function toOutcome(answer: Completion, { responseFormat }: Settings): NodeOutcome {
  const [choice] = answer.choices;
  if (!choice) throw new Fault('upstream', 'the model answered nothing', { reason: 'no_answer' });
  const text = choice.message.content ?? '';
  const { model, provider, usage } = answer;
  const cost = usage.cost ?? 0;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
  const isJson = responseFormat !== undefined && responseFormat !== 'text';
  const output = {
    completion: text,
    text,
    ...(isJson && { json: readJson(text, choice.finish_reason) }),
    model,
    ...(provider !== undefined && { provider }),
    finishReason: choice.finish_reason,
    usage: { promptTokens, completionTokens, totalTokens: usage.total_tokens, cost },
  };
  return { kind: 'done', output, usage: { model, promptTokens, completionTokens, cost } };
}

/** Models like to put their JSON in a fence. */
const fence = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/;

function readJson(text: string, finishReason: string): unknown {
  try {
    return JSON.parse(fence.exec(text)?.[1] ?? text);
  } catch (error) {
    if (finishReason === 'length') {
      const message = 'the answer was cut before its JSON was complete: maxTokens is too low';
      throw new Fault('invalid', message, { reason: 'answer_cut', cause: error });
    }
    // Another attempt may well do better.
    throw new Fault('upstream', 'the model did not answer JSON', {
      reason: 'answer_not_json',
      cause: error,
    });
  }
}

import { Type, type Static } from 'typebox';
import type { Client } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { gatewayContract } from '../../../gateway/contract.ts';
import type { Component, NodeOutcome, Usage } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import { SpentFault } from '../spent-fault.ts';
import { readJson } from './json-answer.ts';
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
  const { model, provider, usage: used } = answer;
  const usage: Usage = {
    model,
    promptTokens: used.prompt_tokens,
    completionTokens: used.completion_tokens,
    cost: used.cost ?? 0,
  };
  const [choice] = answer.choices;
  if (!choice) {
    const message = 'the model answered nothing';
    throw new SpentFault('upstream', message, { reason: 'no_answer', usage });
  }
  const text = choice.message.content ?? '';
  const { finish_reason: finishReason } = choice;
  const { promptTokens, completionTokens, cost } = usage;
  const isJson = responseFormat !== undefined && responseFormat !== 'text';
  const output = {
    completion: text,
    text,
    ...(isJson && { json: readJson(text, { responseFormat, finishReason, usage }) }),
    model,
    ...(provider !== undefined && { provider }),
    finishReason,
    usage: { promptTokens, completionTokens, totalTokens: used.total_tokens, cost },
  };
  return { kind: 'done', output, usage };
}

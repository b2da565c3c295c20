import { Type, type Static } from 'typebox';
import type { Client } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { gatewayContract } from '../../../gateway/contract.ts';
import type { Component, NodeContext, NodeOutcome } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import { refuseModelCall } from './model-call.ts';
import { textOf, textSetting } from './text-setting.ts';

const word = Type.String({ minLength: 1, maxLength: 64 });

const input = Type.Object(
  {
    prompt: textSetting('what the image shall show'),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'the cheapest that makes images when absent (`auto-route`)',
      }),
    ),
    size: Type.Optional(
      Type.String({
        pattern: '^[1-9]\\d{1,4}x[1-9]\\d{1,4}$',
        description: "pixels, `<width>x<height>`; the provider's choice when absent",
      }),
    ),
    quality: Type.Optional(
      Type.Union([word], { description: "in the provider's words: `low`, `high`, …" }),
    ),
    format: Type.Optional(
      Type.Enum(['png', 'jpeg', 'webp'], {
        description: 'of models that can choose; `jpeg` and `webp` are the smaller ones',
      }),
    ),
  },
  { examples: [{ prompt: 'A lighthouse at dusk, {{ style.text }}', format: 'webp' }] },
);
type Settings = Static<typeof input>;

/** What the node asks. */
export type ImagesClient = Pick<Client<typeof gatewayContract>, 'images' | 'listProviders'>;

type Answer = Awaited<ReturnType<ImagesClient['images']>>;

/** Makes images through the gateway. */
export function createImageGen(gateway: ImagesClient): Component {
  return defineComponent({
    name: 'ImageGen',
    group: 'ai',
    title: 'Image',
    description:
      'Makes an image through the gateway, with a model that has the capability `image`; where no provider has one it fails as `PROVIDER_NOT_CONFIGURED`. Providers that answer with the image itself give a `data:` URL; one that is larger than an output may be (8 MiB) fails as `OUTPUT_TOO_LARGE`, paid for all the same: choose a smaller `format`, `size` or `quality`.',
    input,
    output: Type.Object({
      image_url: Type.String({ description: "the provider's address, or a `data:` URL" }),
      revisedPrompt: Type.Optional(
        Type.String({ description: 'what the provider made of the prompt, where it says' }),
      ),
      model: Type.String(),
      provider: Type.String(),
      usage: Type.Object({
        promptTokens: Type.Integer(),
        completionTokens: Type.Integer(),
        totalTokens: Type.Integer(),
        cost: Type.Number({ description: 'US dollars' }),
      }),
    }),
    effect: 'repeatable',
    typicalMs: 15_000,
    timeoutMs: 180_000,
    run: async (settings, context) => {
      if (settings.model === undefined) await requireProvider(gateway, context);
      const body = toRequest(settings);
      const answer = await gateway.images({ body }, callOptions(context)).catch(refuseModelCall);
      return toOutcome(answer);
    },
  });
}

async function requireProvider(gateway: ImagesClient, context: NodeContext): Promise<void> {
  const { providers } = await gateway
    .listProviders({}, callOptions(context))
    .catch(refuseModelCall);
  const models = providers.flatMap((provider) => provider.models);
  if (models.some(({ capabilities }) => capabilities.includes('image'))) return;
  throw new Fault('unimplemented', 'no provider of the gateway makes images', {
    reason: 'provider_not_configured',
    detail: { capability: 'image' },
  });
}

function toRequest({ prompt, model = 'auto-route', size, quality, format }: Settings) {
  return {
    model,
    prompt: textOf(prompt),
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(format !== undefined && { output_format: format }),
  };
}

function toOutcome({ data, model, provider, usage: took }: Answer): NodeOutcome {
  const [image] = data;
  const url = image?.url ?? (image?.b64_json && toDataUrl(image.b64_json));
  if (!url) throw new Fault('upstream', 'the provider sent no image', { reason: 'no_answer' });
  const { input_tokens: promptTokens, output_tokens: completionTokens, cost } = took;
  const usage = { promptTokens, completionTokens, totalTokens: took.total_tokens, cost };
  const revisedPrompt = image?.revised_prompt;
  const output = {
    image_url: url,
    ...(revisedPrompt !== undefined && { revisedPrompt }),
    model,
    provider,
    usage,
  };
  return { kind: 'done', output, usage: { model, promptTokens, completionTokens, cost } };
}

/** What the first bytes of an image look like in base64. */
const beginnings = [
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
] as const;

function toDataUrl(base64: string): string {
  const found = beginnings.find(([beginning]) => base64.startsWith(beginning));
  return `data:${found?.[1] ?? 'image/png'};base64,${base64}`;
}

import { Type } from 'typebox';
import type { Client } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { gatewayContract } from '../../../gateway/contract.ts';
import type { Component, NodeContext, Usage } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import { refuseModelCall } from './model-call.ts';
import { textOf, textSetting } from './text-setting.ts';

export interface ImageRequest {
  readonly prompt: string;
  /** `<width>x<height>` in pixels. */
  readonly size: string;
  readonly model: string;
  readonly provider: string;
}

/** Makes an image with a model of the gateway. */
export type MakeImage = (
  request: ImageRequest,
  context: NodeContext,
) => Promise<{ readonly url: string; readonly usage: Usage }>;

export interface ImageGenDependencies {
  readonly gateway: Pick<Client<typeof gatewayContract>, 'listProviders'>;
  /** Absent where the gateway has no route for images. */
  readonly makeImage?: MakeImage | undefined;
}

/** Makes images through the gateway. */
export function createImageGen({ gateway, makeImage }: ImageGenDependencies): Component {
  return defineComponent({
    name: 'ImageGen',
    group: 'ai',
    title: 'Image',
    description:
      'Makes an image with a provider of the gateway that has the capability `image`; without one it fails as `PROVIDER_NOT_CONFIGURED`.',
    input: Type.Object(
      {
        prompt: textSetting('what the image shall show'),
        size: Type.Optional(
          Type.String({
            pattern: '^[1-9]\\d{1,4}x[1-9]\\d{1,4}$',
            default: '1024x1024',
            description: 'pixels, `<width>x<height>`',
          }),
        ),
      },
      { examples: [{ prompt: 'A lighthouse at dusk, {{ style.text }}' }] },
    ),
    output: Type.Object({ image_url: Type.String() }),
    effect: 'repeatable',
    typicalMs: 15_000,
    timeoutMs: 180_000,
    run: async ({ prompt, size = '1024x1024' }, context) => {
      const target = await findImageModel(gateway, context);
      if (!makeImage) throw noRoute(target.provider);
      const request = { prompt: textOf(prompt), size, ...target };
      const { url, usage } = await makeImage(request, context).catch(refuseModelCall);
      return { kind: 'done', output: { image_url: url }, usage };
    },
  });
}

/** A healthy provider's model first. */
async function findImageModel(gateway: ImageGenDependencies['gateway'], context: NodeContext) {
  const { providers } = await gateway
    .listProviders({}, callOptions(context))
    .catch(refuseModelCall);
  const found = providers.flatMap(({ name: provider, status, models }) =>
    models
      .filter(({ capabilities }) => capabilities.includes('image'))
      .map(({ name: model }) => ({ provider, model, status })),
  );
  const target = found.find(({ status }) => status === 'healthy') ?? found[0];
  if (target) return { provider: target.provider, model: target.model };
  throw new Fault('unimplemented', 'no provider of the gateway makes images', {
    reason: 'provider_not_configured',
    detail: { capability: 'image' },
  });
}

function noRoute(provider: string): Fault {
  return new Fault('unimplemented', `the gateway cannot ask ${provider} for images`, {
    reason: 'images_not_available',
    detail: { provider },
  });
}

import type { Call, Handlers } from '../../kit/http/call.ts';
import { WrittenJson } from '../../kit/answers/written-json.ts';
import type { gatewayContract } from '../contract.ts';
import type { Usage } from '../conversation/answer.ts';
import type { ImageRequest, Images } from '../conversation/image.ts';
import type { ErrandAnswer } from '../exchange/errands/errand.ts';
import type { GatewayParts } from '../parts.ts';
import { automaticModel } from '../routing/router.ts';
import type { ImageBody } from '../schemas/images.ts';
import { passedFields, unsupported } from './passed-fields.ts';
import { tellErrand, toErrand } from './provenance.ts';

type ImageHandlers = Pick<Handlers<typeof gatewayContract>, 'images' | 'openAiImages'>;
type ImageCall = Omit<Call, 'params' | 'query' | 'body'> & { readonly body: ImageBody };

/** The routes that make images. */
export function imageHandlers({ images }: Pick<GatewayParts, 'images'>): ImageHandlers {
  const make = async (call: ImageCall) => {
    const brought = await images.run(toErrand(call, toImageRequest(call.body)));
    tellErrand(call, brought);
    return brought;
  };
  return {
    images: async (call) => new WrittenJson(withProvenance(await make(call))),
    openAiImages: async (call) => {
      const { made, bytes, target } = await make(call);
      const isAsSaid = target.provider.dialect === 'openai' && bytes;
      return new WrittenJson(isAsSaid ? bytes : made.said);
    },
  };
}

/** Throws `invalid` for what would go to no provider, or come back as no single answer. */
function toImageRequest(body: ImageBody): ImageRequest {
  const { model, prompt, n, ...rest } = body;
  const options = passedFields(rest, 'images');
  if (options['stream'] === true) throw unsupported('stream', 'images');
  return { model: model ?? automaticModel, prompt, count: n ?? undefined, options };
}

function withProvenance({ made, target, usage, cost }: ErrandAnswer<Images>) {
  const { usage: counted } = made.said;
  return {
    created: Math.floor(Date.now() / 1_000),
    ...made.said,
    model: target.model.name,
    provider: target.provider.name,
    usage: { ...(counted as object | null | undefined), ...countsOf(usage), cost },
  };
}

function countsOf({ inputTokens, outputTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

import type { AnswerOf } from '../../kit/contract.ts';
import type { modelsContract } from '../../models/contract.ts';

type Routes = typeof modelsContract.routes;

/** A model as the service lists it. */
export type Tag = AnswerOf<Routes['ollamaTags']>['models'][number];

/** A model as a listing shows it. */
export interface ListedModel {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 in hex; empty while unknown. */
  readonly digest: string;
  readonly family: string;
  readonly parameters: string;
  readonly quantization: string;
  readonly modifiedAt: string;
}

/** What is known of one model. */
export interface ShownModel extends ListedModel {
  readonly capabilities: readonly string[];
  readonly contextTokens: number | undefined;
  readonly licence: string;
}

export function toListed({ name, size, digest, details, modified_at }: Tag): ListedModel {
  return {
    name,
    bytes: size,
    digest,
    family: details.family,
    parameters: details.parameter_size,
    quantization: details.quantization_level,
    modifiedAt: modified_at,
  };
}

export function toShown(tag: Tag, shown: AnswerOf<Routes['ollamaShow']>): ShownModel {
  const { model_info: info, capabilities, license: licence } = shown;
  const context = info[`${tag.details.family}.context_length`];
  const contextTokens = typeof context === 'number' ? context : undefined;
  return { ...toListed(tag), capabilities, contextTokens, licence };
}

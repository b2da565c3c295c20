import { withoutLatest } from '../../library/model-name.ts';
import type { Capability, ModelInfo } from '../inference.ts';
import type { Shown, Tag } from './ollama-schemas.ts';

/** What Ollama tells of a model, in our words. Without `shown` a family of encoders decides. */
export function toModelInfo(tag: Tag, shown: Shown | undefined, runtime: string): ModelInfo {
  const info = shown?.model_info ?? {};
  const family = textAt(info, 'general.architecture') ?? tag.details?.family ?? '';
  const [, digest] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(tag.digest ?? '') ?? [];
  return {
    name: withoutLatest(tag.name),
    runtime,
    bytes: tag.size,
    digest,
    modifiedAt: dateOf(tag.modified_at) ?? new Date(0),
    capabilities: capabilitiesOf(shown, family),
    family,
    quantization: tag.details?.quantization_level ?? '',
    parameterCount: numberAt(info, 'general.parameter_count'),
    contextTokens: numberAt(info, `${family}.context_length`),
    embeddingDimensions: numberAt(info, `${family}.embedding_length`),
  };
}

/** Undefined for what is no date. */
export function dateOf(text: string | undefined): Date | undefined {
  const date = new Date(text ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function capabilitiesOf(shown: Shown | undefined, family: string): Capability[] {
  const told = shown?.capabilities ?? (/bert|embed/.test(family) ? ['embedding'] : ['completion']);
  const known = (['completion', 'tools', 'embedding'] as const).filter((one) => told.includes(one));
  return known.includes('completion') ? [...known, 'json'] : known;
}

function textAt(info: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = info[key];
  return typeof value === 'string' ? value : undefined;
}

function numberAt(info: Readonly<Record<string, unknown>>, key: string): number | undefined {
  const value = info[key];
  return typeof value === 'number' ? value : undefined;
}

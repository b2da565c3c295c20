import type { ModelInfo, RunningModel } from '../inference/inference.ts';
import type { InstalledModel } from '../library/library.ts';
import type { Details, ShowAnswer } from './model-schemas.ts';

/** What stands for a model that never leaves the memory. */
const never = '9999-12-31T23:59:59.000Z';

/** A model as `/api/tags` lists it. */
export function toTag(model: ModelInfo) {
  const removable = isOwn(model) && !model.isBuiltIn;
  return { ...summaryOf(model), modified_at: model.modifiedAt.toISOString(), removable };
}

/** Whether it is a file of this machine and no model of an external runtime. */
export function isOwn({ runtime }: ModelInfo): boolean {
  return runtime === 'local';
}

/** A model in memory as `/api/ps` lists it. */
export function toRunning({ model, memoryBytes, contextTokens, expiresAt }: RunningModel) {
  return {
    ...summaryOf(model),
    size: memoryBytes,
    expires_at: expiresAt?.toISOString() ?? never,
    size_vram: 0,
    context_length: contextTokens,
  };
}

/** A model as `/api/show` describes it; the file says more than the runtime where there is one. */
export function toShown(model: ModelInfo, installed: InstalledModel | undefined): ShowAnswer {
  const template = installed?.header?.chatTemplate ?? '';
  return {
    license: installed?.licence ?? '',
    modelfile: `FROM ${model.name}\n`,
    parameters: '',
    template,
    system: '',
    details: detailsOf(model),
    model_info: installed?.header
      ? Object.fromEntries(installed.header.metadata)
      : knownInfo(model),
    capabilities: model.capabilities.filter((capability) => capability !== 'json'),
    modified_at: model.modifiedAt.toISOString(),
  };
}

function summaryOf(model: ModelInfo) {
  const { name, bytes, digest = '' } = model;
  return { name, model: name, size: bytes, digest, details: detailsOf(model) };
}

function detailsOf({ family, runtime, parameterCount, quantization }: ModelInfo): Details {
  return {
    parent_model: '',
    format: runtime === 'local' ? 'gguf' : '',
    family,
    families: family === '' ? [] : [family],
    parameter_size: parameterCount === undefined ? '' : formatCount(parameterCount),
    quantization_level: quantization,
  };
}

function knownInfo({ family, parameterCount, contextTokens, embeddingDimensions }: ModelInfo) {
  return {
    'general.architecture': family,
    ...(parameterCount === undefined ? {} : { 'general.parameter_count': parameterCount }),
    ...(contextTokens === undefined ? {} : { [`${family}.context_length`]: contextTokens }),
    ...(embeddingDimensions === undefined
      ? {}
      : { [`${family}.embedding_length`]: embeddingDimensions }),
  };
}

const units = [
  ['B', 1e9],
  ['M', 1e6],
  ['K', 1e3],
] as const;

function formatCount(count: number): string {
  const [unit, size] = units.find(([, least]) => count >= least) ?? ['', 1];
  return unit === '' ? String(count) : `${(count / size).toFixed(1)}${unit}`;
}

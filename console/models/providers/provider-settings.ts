import type { Answer, InputOf } from '../../api/contracts.ts';
import { linesIn, namesIn, pairsIn } from '../../ui/entry-text.ts';

export type Configured = Answer<'gateway', 'GET /api/v1/providers/:name'>;
export type Settings = NonNullable<InputOf<'gateway', 'PUT /api/v1/providers/:name'>['body']>;
type ModelSettings = NonNullable<Settings['models']>[number];

export const dialects = ['openai', 'anthropic', 'gemini', 'ollama'] as const;
export type Dialect = (typeof dialects)[number];

/** A provider's settings as they are written in a form: every field is a text, and empty what is absent. */
export interface ProviderForm {
  readonly dialect: Dialect;
  readonly baseUrl: string;
  /** New keys, one a line; the stored ones never come back. */
  readonly keys: string;
  readonly dropsKeys: boolean;
  /** Undecided: the service does not say whether its models were listed by the provider. */
  readonly modelSource: 'provider' | 'settings' | 'undecided';
  readonly models: readonly ModelForm[];
  readonly weight: string;
  readonly priority: string;
  readonly requestsPerMinute: string;
  readonly firstTokenMs: string;
  readonly idleMs: string;
  readonly totalMs: string;
  /** `name: value`, one a line. */
  readonly headers: string;
  readonly limits: Settings['limits'];
}

export interface ModelForm {
  readonly name: string;
  /** With commas between them. */
  readonly capabilities: string;
  readonly inputCostPerMToken: string;
  readonly outputCostPerMToken: string;
  readonly quality: string;
  readonly contextWindow: string;
  /** What the form does not show stays as it is. */
  readonly rest: Partial<ModelSettings>;
}

export const newModel: ModelForm = {
  name: '',
  capabilities: '',
  inputCostPerMToken: '',
  outputCostPerMToken: '',
  quality: '',
  contextWindow: '',
  rest: {},
};

export const newProvider: ProviderForm = {
  dialect: 'openai',
  baseUrl: '',
  keys: '',
  dropsKeys: false,
  modelSource: 'provider',
  models: [],
  weight: '',
  priority: '',
  requestsPerMinute: '',
  firstTokenMs: '',
  idleMs: '',
  totalMs: '',
  headers: '',
  limits: undefined,
};

/** The settings of a provider as a form. */
export function toForm(provider: Configured): ProviderForm {
  const { timeouts, rateLimit, limits } = provider;
  return {
    dialect: dialects.find((dialect) => dialect === provider.dialect) ?? 'openai',
    baseUrl: provider.baseUrl,
    keys: '',
    dropsKeys: false,
    modelSource: 'undecided',
    models: provider.models.map(toModelForm),
    weight: String(provider.weight),
    priority: String(provider.priority),
    requestsPerMinute: String(rateLimit?.requestsPerMinute ?? ''),
    firstTokenMs: String(timeouts.firstTokenMs),
    idleMs: String(timeouts.idleMs),
    totalMs: String(timeouts.totalMs),
    headers: Object.entries(provider.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    limits,
  };
}

/**
 * A form as the settings that are put: what is empty is left out, so that the service's defaults hold. Throws a
 * sentence for a header that is none.
 */
export function toSettings(form: ProviderForm): Settings {
  const timeouts = withoutGaps({
    firstTokenMs: toNumber(form.firstTokenMs),
    idleMs: toNumber(form.idleMs),
    totalMs: toNumber(form.totalMs),
  });
  const requestsPerMinute = toNumber(form.requestsPerMinute);
  const headers = pairsIn(form.headers, ':');
  return {
    dialect: form.dialect,
    baseUrl: form.baseUrl.trim(),
    ...readKeys(form),
    ...(form.modelSource === 'settings' ? { models: form.models.map(toModelSettings) } : {}),
    ...withoutGaps({ weight: toNumber(form.weight), priority: toNumber(form.priority) }),
    ...(requestsPerMinute === undefined ? {} : { rateLimit: { requestsPerMinute } }),
    ...(Object.keys(timeouts).length > 0 ? { timeouts } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(form.limits && Object.keys(form.limits).length > 0 ? { limits: form.limits } : {}),
  };
}

function toModelForm(model: Configured['models'][number]): ModelForm {
  const { name, capabilities, quality, contextWindow, ...others } = model;
  const { inputCostPerMToken, outputCostPerMToken, ...rest } = others;
  return {
    name,
    capabilities: capabilities.join(', '),
    inputCostPerMToken: String(inputCostPerMToken),
    outputCostPerMToken: String(outputCostPerMToken),
    quality: String(quality),
    contextWindow: String(contextWindow),
    rest,
  };
}

function toModelSettings(model: ModelForm): ModelSettings {
  const capabilities = namesIn(model.capabilities);
  return {
    ...model.rest,
    name: model.name.trim(),
    // What is no capability is refused by the service, in its own words.
    ...(capabilities.length > 0
      ? { capabilities: capabilities as NonNullable<ModelSettings['capabilities']> }
      : {}),
    ...withoutGaps({
      inputCostPerMToken: toNumber(model.inputCostPerMToken),
      outputCostPerMToken: toNumber(model.outputCostPerMToken),
      quality: toNumber(model.quality),
      contextWindow: toNumber(model.contextWindow),
    }),
  };
}

function readKeys({ keys, dropsKeys }: ProviderForm): Pick<Settings, 'apiKey' | 'apiKeys'> {
  const [first, ...others] = linesIn(keys);
  if (first === undefined) return dropsKeys ? { apiKey: null } : {};
  return others.length === 0 ? { apiKey: first } : { apiKeys: [first, ...others] };
}

function toNumber(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}

type Numbers<K extends string> = { readonly [P in K]: number | undefined };

function withoutGaps<K extends string>(numbers: Numbers<K>): { readonly [P in K]?: number } {
  const present = Object.entries(numbers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { readonly [P in K]?: number };
}

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fault } from '../../kit/errors.ts';
import { findFlaws } from '../../kit/schema-flaws.ts';
import { capabilityNames } from './provider.ts';
import { AnyKey } from '../../kit/any-key.ts';

const Price = Type.Number({ minimum: 0, maximum: 1_000_000, description: 'US dollars' });
const Tokens = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
const Milliseconds = Type.Integer({ minimum: 1, maximum: 86_400_000 });
const Key = Type.String({
  maxLength: 4096,
  pattern: '^[\\x21-\\x7E]+$',
  description: 'printable characters without spaces',
});

/** A model as an operator describes it; what is absent comes from the catalogue by its name. */
export const ModelSettings = Type.Object({
  name: Type.String({
    maxLength: 256,
    pattern: '^[^\\s\\x00-\\x1F\\x7F]+$',
    description: 'the name that the provider knows, without spaces',
  }),
  capabilities: Type.Optional(Type.Array(Type.Enum([...capabilityNames]), { maxItems: 16 })),
  inputCostPerMToken: Type.Optional(Price),
  outputCostPerMToken: Type.Optional(Price),
  cachedInputCostPerMToken: Type.Optional(Price),
  cacheWriteCostPerMToken: Type.Optional(Price),
  costPerImage: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000,
      description: 'US dollars, where the provider counts no tokens of it',
    }),
  ),
  quality: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  contextWindow: Type.Optional(Tokens),
  maxOutput: Type.Optional(Tokens),
});
export type ModelSettings = Static<typeof ModelSettings>;

const RateLimit = Type.Object({
  requestsPerMinute: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
});

const TimeoutSettings = Type.Object({
  firstTokenMs: Type.Optional(Milliseconds),
  idleMs: Type.Optional(Milliseconds),
  totalMs: Type.Optional(Milliseconds),
});

/** Where a provider takes less than others of its dialect; what is absent comes from what is known of it. */
export const LimitSettings = Type.Object({
  stopsMax: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: 'stop sequences of a chat' }),
  ),
  embeddingInputsMax: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_048, description: 'texts of one call for embeddings' }),
  ),
  callIdLength: Type.Optional(
    Type.Integer({
      minimum: 8,
      maximum: 40,
      description: 'ids of tool calls are sent with just so many letters and digits',
    }),
  ),
});

/** A provider as an operator describes it, over the API and in the file. */
export const ProviderSettings = Type.Object(
  {
    dialect: Type.Enum(['openai', 'anthropic', 'gemini', 'ollama']),
    baseUrl: Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'with the version part: OpenAI and Anthropic `…/v1`, Gemini `…/v1beta`, Ollama the origin',
    }),
    apiKey: Type.Optional(
      Type.Union([Key, Type.Null()], {
        description: 'absent: what is stored stays; null: it is dropped',
      }),
    ),
    apiKeys: Type.Optional(
      Type.Array(Key, { maxItems: 64, description: 'several, in place of `apiKey`' }),
    ),
    models: Type.Optional(
      Type.Array(ModelSettings, {
        maxItems: 2000,
        description: 'absent or empty: the provider is asked which it has, now and every minute',
      }),
    ),
    weight: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1000 })),
    priority: Type.Optional(Type.Integer({ minimum: -1000, maximum: 1000 })),
    rateLimit: Type.Optional(RateLimit),
    timeouts: Type.Optional(TimeoutSettings),
    limits: Type.Optional(LimitSettings),
    headers: Type.Optional(
      Type.Record(AnyKey, Type.String({ maxLength: 4096 }), {
        maxProperties: 32,
        description: 'sent besides; values never come back, and `***` keeps the stored one',
      }),
    ),
  },
  // What is unknown is refused by name where the settings are read.
  { $id: 'ProviderSettings', additionalProperties: true },
);
export type ProviderSettings = Static<typeof ProviderSettings>;

/** What a header's value looks like when it comes back. */
export const hiddenValue = '***';

const checker = Compile(ProviderSettings);
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Settings from outside; `place` stands in front of the field in complaints. Throws `invalid` for
 * what is not valid and, because settings guard something, for every field that is not known.
 */
export function readSettings(value: unknown, place = ''): ProviderSettings {
  if (!checker.Check(value)) throw flawOf(value, place);
  refuseUnknown(value, ProviderSettings, place);
  refuseUnknown(value.rateLimit, RateLimit, `${place}rateLimit.`);
  refuseUnknown(value.timeouts, TimeoutSettings, `${place}timeouts.`);
  refuseUnknown(value.limits, LimitSettings, `${place}limits.`);
  checkModels(value.models ?? [], place);
  checkHeaders(value.headers ?? {}, place);
  if (value.apiKeys && typeof value.apiKey === 'string') {
    throw badSetting(`${place}apiKeys`, 'cannot stand beside apiKey');
  }
  return value;
}

/** In metrics nobody was asked, and in requests whoever suits. */
const otherMeanings: ReadonlySet<string> = new Set(['none', 'auto-route']);

/** Throws `invalid` for what names no provider. */
export function checkProviderName(name: string): void {
  if (otherMeanings.has(name)) throw badSetting('name', 'is a reserved name');
  if (namePattern.test(name)) return;
  const rule = 'must be 1 to 63 lower-case letters, digits and hyphens, no hyphen first';
  throw badSetting('name', rule);
}

/** A refusal that names the field. */
export function badSetting(param: string, rule: string): Fault {
  const message = `${param === '' ? 'the settings' : param} ${rule}`;
  return new Fault('invalid', message, { reason: 'validation_error', detail: { param } });
}

function refuseUnknown(
  value: object | undefined,
  { properties }: { readonly properties: object },
  place: string,
): void {
  const unknown = Object.keys(value ?? {}).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw badSetting(place + unknown, 'is not a known setting');
}

function flawOf(value: unknown, place: string): Fault {
  const [flaw] = findFlaws(checker.Errors(value), ProviderSettings);
  const missing = flaw?.missing === undefined ? '' : `/${flaw.missing}`;
  const field = `${flaw?.place ?? ''}${missing}`.slice(1).replaceAll('/', '.');
  return badSetting(place + field, flaw?.message ?? 'is not valid');
}

function checkModels(models: readonly ModelSettings[], place: string): void {
  const seen = new Set<string>();
  for (const [at, model] of models.entries()) {
    refuseUnknown(model, ModelSettings, `${place}models.${at}.`);
    // It is the request for the gateway's own choice.
    if (model.name === 'auto-route') {
      throw badSetting(`${place}models.${at}.name`, 'is a reserved name');
    }
    if (seen.has(model.name)) throw badSetting(`${place}models.${at}.name`, 'stands twice');
    seen.add(model.name);
  }
}

/** Headers that name the target or frame the message: they belong to the client alone. */
const framing =
  /^(host|content-(length|type|encoding)|accept-encoding|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect)$/i;

function checkHeaders(headers: Readonly<Record<string, string>>, place: string): void {
  for (const [name, value] of Object.entries(headers)) {
    const field = `${place}headers.${name}`;
    if (!/^[!#$%&'*+.^_`|~\w-]{1,128}$/.test(name)) throw badSetting(field, 'is no header name');
    if (framing.test(name)) throw badSetting(field, 'cannot be set');
    if (!/^[\x20-\x7E]*$/.test(value)) throw badSetting(field, 'holds what HTTP cannot carry');
  }
}

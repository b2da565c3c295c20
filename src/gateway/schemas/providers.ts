import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { capabilityNames } from '../providers/provider.ts';
import { LimitSettings, ProviderSettings } from '../providers/settings.ts';
import { AnyKey } from '../../kit/any-key.ts';

const administration = 'gateway:configure';
const api = '/api/v1/providers';
const dollars = Type.Number({ description: 'US dollars' });
const capabilities = Type.Array(Type.Enum([...capabilityNames]));
const params = Type.Object({ name: Type.String({ maxLength: 128, description: 'of a provider' }) });

const ListedModel = Type.Object({
  name: Type.String(),
  size: Type.Optional(Type.String({ description: 'of its file, where it runs here: `4.7 GB`' })),
  capabilities,
  costPerMToken: Type.Number({
    description: 'US dollars for a million tokens, three parts of prompt to one of answer',
  }),
  inputCostPerMToken: dollars,
  outputCostPerMToken: dollars,
  costPerImage: Type.Optional(dollars),
  contextWindow: Type.Integer({ description: 'tokens of prompt and answer together' }),
  maxOutput: Type.Optional(
    Type.Integer({ description: 'tokens of one answer, where it is known' }),
  ),
  isPriceUnknown: Type.Optional(
    Type.Literal(true, { description: 'nobody knows: the prices are 0 for want of better' }),
  ),
});

const ListedProvider = Type.Object(
  {
    name: Type.String(),
    status: Type.String({ description: '`healthy` or `degraded`' }),
    endpoint: Type.Optional(Type.String({ description: 'of the local runtime' })),
    models: Type.Array(ListedModel),
    requestsPerMinute: Type.Number({ description: 'of the last minute' }),
    averageLatency: Type.Number({ description: 'milliseconds; 0 before the first request' }),
    rateLimit: Type.Optional(
      Type.Object(
        {
          remaining: Type.Integer(),
          reset: Type.String({ format: 'date-time' }),
        },
        { description: 'of hosted providers that have a limit or tell theirs' },
      ),
    ),
  },
  { $id: 'ListedProvider' },
);

const ConfiguredModel = Type.Object({
  name: Type.String(),
  capabilities,
  inputCostPerMToken: dollars,
  outputCostPerMToken: dollars,
  cachedInputCostPerMToken: Type.Optional(dollars),
  cacheWriteCostPerMToken: Type.Optional(dollars),
  costPerImage: Type.Optional(dollars),
  quality: Type.Number(),
  contextWindow: Type.Integer(),
  maxOutput: Type.Optional(Type.Integer()),
});

const ConfiguredProvider = Type.Object(
  {
    name: Type.String(),
    origin: Type.String({ description: '`local`, `environment`, `file` or `api`' }),
    dialect: Type.String(),
    baseUrl: Type.String(),
    hasApiKey: Type.Boolean(),
    keyCount: Type.Integer(),
    models: Type.Array(ConfiguredModel, { description: 'with what the catalogue added' }),
    weight: Type.Number(),
    priority: Type.Integer(),
    rateLimit: Type.Optional(Type.Object({ requestsPerMinute: Type.Integer() })),
    timeouts: Type.Object({
      firstTokenMs: Type.Integer(),
      idleMs: Type.Integer(),
      totalMs: Type.Integer(),
    }),
    limits: LimitSettings,
    headers: Type.Record(AnyKey, Type.String(), { description: 'every value is `***`' }),
  },
  { $id: 'ConfiguredProvider' },
);

/** The routes of providers. */
export const providerRoutes = {
  listProviders: {
    method: 'GET',
    url: api,
    summary: 'List the providers and how they do',
    schema: { response: { 200: Type.Object({ providers: Type.Array(ListedProvider) }) } },
  },
  readProvider: {
    method: 'GET',
    url: `${api}/:name`,
    summary: 'Read the settings of a provider, without its secrets',
    permission: administration,
    schema: { params, response: { 200: ConfiguredProvider } },
  },
  putProvider: {
    method: 'PUT',
    url: `${api}/:name`,
    summary: 'Add a provider or replace its settings',
    description:
      'In force at once on all replicas; requests on their way end with the settings that they began with. A stored key stays unless the body names another, or null; for another origin it must be given again. Unknown fields are refused.',
    permission: administration,
    schema: {
      params,
      body: ProviderSettings,
      response: { 200: ConfiguredProvider, 201: ConfiguredProvider },
    },
  },
  deleteProvider: {
    method: 'DELETE',
    url: `${api}/:name`,
    summary: 'Delete a provider that was put here',
    permission: administration,
    schema: {
      params,
      response: { 200: Type.Object({ name: Type.String(), deleted: Type.Literal(true) }) },
    },
  },
} as const satisfies Record<string, Route>;

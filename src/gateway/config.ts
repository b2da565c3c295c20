import { Type } from 'typebox';
import {
  secretSetting,
  setting,
  settingOr,
  type ConfigOf,
  type Secret,
  type Setting,
  type Settings,
} from '../kit/config.ts';
import { cacheSettings } from './cache/cache-settings.ts';
import { presets, type Preset } from './catalogue/presets.ts';
import { guardrailSettings } from './guardrails/guardrail-settings.ts';
import { moneySettings } from './money/money-settings.ts';

const Address = Type.String({ pattern: '^https?://', maxLength: 2048 });

const ownSettings = {
  deadlineSeconds: settingOr(
    'GATEWAY_DEADLINE_SECONDS',
    { schema: Type.Integer({ minimum: 1, maximum: 3_600 }), or: 300 },
    'seconds from the arrival of a request until no further provider is asked for it',
  ),
  hedgeAfterMs: setting(
    'GATEWAY_HEDGE_AFTER_MS',
    Type.Integer({ minimum: 10, maximum: 600_000 }),
    'milliseconds without a first token after which the next candidate is asked too, and whoever is first answers; when absent nobody is asked twice',
  ),
  unreadMebibytes: settingOr(
    'GATEWAY_UNREAD_MIB',
    { schema: Type.Integer({ minimum: 1, maximum: 1_048_576 }), or: 256 },
    'mebibytes of streamed answers that may wait in memory for callers who read slowly, all together; beyond it the caller for whom most waits loses its connection',
  ),
  configFile: setting(
    'GATEWAY_CONFIG',
    Type.String({ maxLength: 4096 }),
    'a JSON file `{"providers": {name: settings}}` with the settings of `PUT /api/v1/providers/{name}`; a changed file is read again within a second',
  ),
  azureEndpoint: setting(
    'AZURE_OPENAI_ENDPOINT',
    Address,
    'address of the Azure OpenAI resource, `https://<resource>.openai.azure.com`',
  ),
  azureKeys: secretSetting(
    'AZURE_OPENAI_API_KEY',
    'API keys of the Azure OpenAI resource, separated by commas',
  ),
  azureDeployments: setting(
    'AZURE_OPENAI_DEPLOYMENTS',
    Type.String({ maxLength: 8192 }),
    'its deployments, separated by commas: `name`, or `name=model` where the name is not the model',
  ),
} satisfies Settings;

/** The environment of the gateway; the variables of known providers go by their own names. */
export const gatewaySettings = {
  ...presetSettings(),
  ...ownSettings,
  ...cacheSettings,
  ...moneySettings,
  ...guardrailSettings,
};

export type GatewayConfig = ConfigOf<typeof ownSettings>;

/** All of it, without the known providers' variables. */
export type GatewaySettings = ConfigOf<
  typeof ownSettings & typeof cacheSettings & typeof moneySettings & typeof guardrailSettings
>;

/** The values of the known providers' variables, by the variable. */
export function providerVariables(config: GatewayConfig): ProviderVariables {
  // They are read by the names that the presets have; the type knows only the others.
  const values = config as unknown as Readonly<Record<string, Secret | string | undefined>>;
  return {
    secret: (env) => (typeof values[env] === 'object' ? values[env].reveal() : undefined),
    text: (env) => (typeof values[env] === 'string' ? values[env] : undefined),
  };
}

export interface ProviderVariables {
  secret(env: string): string | undefined;
  text(env: string): string | undefined;
}

function presetSettings(): Readonly<Record<string, Setting>> {
  const entries: Setting[] = presets.flatMap((preset) => [...keyOf(preset), ...urlOf(preset)]);
  return Object.fromEntries(entries.map((entry) => [entry.env, entry]));
}

function keyOf({ name, keyEnv }: Preset): Setting[] {
  if (keyEnv === undefined) return [];
  return [secretSetting(keyEnv, `API keys of the provider \`${name}\`, separated by commas`)];
}

function urlOf({ name, urlEnv, baseUrl, dialect }: Preset): Setting[] {
  if (urlEnv === undefined) return [];
  const version = dialect === 'ollama' ? '' : ' with its version part (`/v1`)';
  const rest = baseUrl === undefined ? '' : `, in place of \`${baseUrl}\``;
  const description = `address of the provider \`${name}\`${version}${rest}`;
  return [setting(urlEnv, Address, description)];
}

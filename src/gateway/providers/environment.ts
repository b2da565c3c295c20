import { azurePreset, presets, type Preset } from '../catalogue/presets.ts';
import { providerVariables, type GatewayConfig, type ProviderVariables } from '../config.ts';
import { defineProvider, type ProviderDefinition } from './definition.ts';
import type { DefinedModel } from './listed-model.ts';

/** The providers that the environment has a key or an address of. */
export function definedByEnvironment(config: GatewayConfig): ProviderDefinition[] {
  const variables = providerVariables(config);
  const known = presets.flatMap((preset) => definePreset(preset, variables) ?? []);
  const azure = defineAzure(config);
  return azure ? [...known, azure] : known;
}

function definePreset(preset: Preset, variables: ProviderVariables) {
  const { name, dialect, keyEnv = '', urlEnv = '', models } = preset;
  const keys = listOf(variables.secret(keyEnv));
  const address = variables.text(urlEnv);
  const baseUrl = address ?? preset.baseUrl;
  const isNamed = address !== undefined || keys.length > 0;
  if (!isNamed || baseUrl === undefined) return undefined;
  const frame = { name, origin: 'environment' as const, keys };
  // At an address of its own, only the provider itself knows what it has.
  const suggested = address === undefined && models ? { suggested: models } : {};
  return defineProvider({ dialect, baseUrl }, { ...frame, ...suggested });
}

function defineAzure(config: GatewayConfig): ProviderDefinition | undefined {
  const { azureEndpoint, azureKeys, azureDeployments } = config;
  if (azureEndpoint === undefined || !azureKeys) return undefined;
  const { name, dialect } = azurePreset;
  const origin = azureEndpoint.replace(/\/+$/, '').replace(/\/openai(\/v1)?$/, '');
  const keys = listOf(azureKeys.reveal());
  const frame = { name, origin: 'environment' as const, keys };
  const definition = defineProvider({ dialect, baseUrl: `${origin}/openai/v1` }, frame);
  const models = listOf(azureDeployments).map(toDeployment);
  return models.length > 0 ? { ...definition, models } : definition;
}

function toDeployment(text: string): DefinedModel {
  const [name = '', knownAs] = text.split('=').map((part) => part.trim());
  return knownAs === undefined ? { name } : { name, knownAs };
}

function listOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  const parts = text.split(',').map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ''))];
}

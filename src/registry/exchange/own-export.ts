import {
  connectionTypes,
  protocols,
  type Capability,
  type HealthCheckSettings,
  type Protocol,
} from '../connections/connection.ts';
import { inputNeeded, unsupported, type Candidate } from './candidate.ts';
import { readEndpoint } from './given-endpoint.ts';
import { isRecord, listOf, recordOf, textOf, textsOf, type Json } from './json-values.ts';
import type { Inputs } from './placeholders.ts';
import { variableOf } from './public-endpoint.ts';

/** One connection of an export of a registry. */
export function readOwnExport(value: unknown, inputs: Inputs): Candidate {
  const entry = recordOf(value);
  const name = textOf(entry['name']) ?? 'unnamed';
  const type = connectionTypes.find((one) => one === entry['type']);
  const protocol = protocols.find((one) => one === entry['protocol']);
  if (!type || !protocol) return unsupported(name);
  const found = readEndpoint(protocol, withNeeds(entry, name, protocol), inputs);
  // Only a client may have none.
  if (!found && type === 'server') return unsupported(name);
  if (found && 'missing' in found) return inputNeeded(name, found.missing);
  const input = {
    name,
    type,
    protocol,
    ...(found ? { endpoint: found.endpoint } : {}),
    capabilities: capabilitiesOf(entry),
    metadata: recordOf(entry['metadata']),
    healthCheck: healthCheckOf(entry['healthCheck']),
  };
  return { input, needs: found ? found.needs : [] };
}

/** The endpoint with a placeholder for each secret that the export only named. */
function withNeeds(entry: Json, name: string, protocol: Protocol): Json {
  const given = recordOf(entry['endpoint']);
  const place = protocol === 'stdio' ? 'env' : 'headers';
  const needs = listOf(entry['needs']).filter((one) => typeof one === 'string');
  const secrets = needs.map((need) => [need, `\${${variableOf(`${name}_${need}`)}}`] as const);
  return { ...given, [place]: { ...Object.fromEntries(secrets), ...textsOf(given[place]) } };
}

/** What was declared; `capabilities` also holds what was learned, where `declared` is there. */
function capabilitiesOf(entry: Json): Capability[] {
  return listOf(entry['declared'] ?? entry['capabilities']).flatMap((one) => {
    if (typeof one === 'string') return [{ name: one }];
    const { name, description, schema } = recordOf(one);
    if (typeof name !== 'string') return [];
    return [
      {
        name,
        ...(typeof description === 'string' ? { description } : {}),
        ...(isRecord(schema) ? { schema } : {}),
      },
    ];
  });
}

function healthCheckOf(value: unknown): Partial<HealthCheckSettings> {
  const { enabled, interval, timeout } = recordOf(value);
  return {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(typeof interval === 'number' ? { interval } : {}),
    ...(typeof timeout === 'number' ? { timeout } : {}),
  };
}

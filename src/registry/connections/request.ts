import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { hasFiniteNumbers } from '../../kit/finite-numbers.ts';
import { isStorable } from '../../kit/storable-json.ts';
import type {
  Capability,
  ConnectionStatus,
  ConnectionType,
  HealthCheckSettings,
  Protocol,
  RemoteEndpoint,
  StdioEndpoint,
} from './connection.ts';
import { readHeaders, readVariables } from './endpoint-values.ts';

/** An endpoint as somebody sends it; what its protocol wants of it is checked here. */
export interface EndpointRequest {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a connection is registered with. */
export interface ConnectionRequest {
  readonly name: string;
  readonly type: ConnectionType;
  readonly protocol: Protocol;
  /** May be missing of a client. */
  readonly endpoint?: EndpointRequest | undefined;
  readonly capabilities?: readonly (string | Capability)[] | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly healthCheck?: Partial<HealthCheckSettings> | undefined;
}

/** What is to change of a connection. */
export interface ConnectionPatch {
  readonly name?: string | undefined;
  readonly status?: Exclude<ConnectionStatus, 'error'> | undefined;
  readonly endpoint?: EndpointRequest | undefined;
  readonly capabilities?: readonly (string | Capability)[] | undefined;
  /** Merged by key; null removes one. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly healthCheck?: Partial<HealthCheckSettings> | undefined;
}

export interface EndpointRules {
  readonly egress: Pick<Egress, 'checkUrl'>;
  /** Throws for variables that a command must not be given. */
  readonly checkVariables: (variables: Readonly<Record<string, string>>) => void;
}

const healthCheckDefault: HealthCheckSettings = { enabled: true, interval: 30, timeout: 5_000 };
const namePattern = /^(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?$/;
const metadataBytesMax = 16 * 1024;
const capabilityBytesMax = 256 * 1024;
const argsBytesMax = 32 * 1024;

/** Throws `invalid` for a name that no tool's name could begin with. */
export function readName(name: string): string {
  if (namePattern.test(name)) return name;
  throw invalid(
    'name',
    'name must be 1 to 64 letters, digits or any of _ . - inside, without two _ in a row',
  );
}

/**
 * An endpoint of this protocol. Throws `invalid` for one of another protocol or with values that
 * cannot be sent, and `forbidden` (`egress_blocked`) for an address that may not be called.
 */
export function readEndpoint(
  request: EndpointRequest,
  protocol: Protocol,
  rules: EndpointRules,
): StdioEndpoint | RemoteEndpoint {
  const endpoint =
    protocol === 'stdio'
      ? readCommand(request, rules)
      : readAddress(request, protocol, rules.egress);
  refuseUnstorable('endpoint', endpoint);
  return endpoint;
}

/** An endpoint that was left out, which only a client may do. */
export function readNoEndpoint(
  type: ConnectionType,
  protocol: Protocol,
): StdioEndpoint | RemoteEndpoint {
  if (type !== 'client') throw invalid('endpoint', 'a server needs an endpoint');
  return protocol === 'stdio' ? { command: '', args: [] } : { url: '' };
}

/** What a connection declares, each name once; the last one that stands there counts. */
export function readCapabilities(given: readonly (string | Capability)[]): readonly Capability[] {
  const byName = new Map<string, Capability>();
  for (const one of given) {
    const { name, description, schema } =
      typeof one === 'string' ? { name: one } : (one satisfies Capability);
    byName.set(name, {
      name,
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { schema }),
    });
  }
  const declared = [...byName.values()];
  refuseLarge('capabilities', declared, capabilityBytesMax);
  return declared;
}

/** Throws `invalid` for metadata that measure too much. */
export function readMetadata(
  metadata: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  refuseLarge('metadata', metadata, metadataBytesMax);
  return metadata;
}

/** Settings in the place of those that were there, or of the default ones. */
export function readHealthCheck(
  given: Partial<HealthCheckSettings> = {},
  before: HealthCheckSettings = healthCheckDefault,
): HealthCheckSettings {
  const { enabled, interval, timeout } = given;
  return {
    enabled: enabled ?? before.enabled,
    interval: interval ?? before.interval,
    timeout: timeout ?? before.timeout,
  };
}

function readCommand(request: EndpointRequest, rules: EndpointRules): StdioEndpoint {
  const { command, args = [], env, url, headers } = request;
  if (command === undefined || command === '' || url !== undefined || headers !== undefined) {
    throw invalid('endpoint', 'the endpoint of stdio is {command, args?, env?}');
  }
  if ([command, ...args].some((text) => /[\0\n\r]/.test(text))) {
    throw invalid('endpoint', 'a command and its arguments hold no line break and no U+0000');
  }
  refuseLarge('endpoint.args', args, argsBytesMax);
  if (env === undefined) return { command, args };
  rules.checkVariables(env);
  return { command, args, env: readVariables(env) };
}

function readAddress(
  request: EndpointRequest,
  protocol: 'http' | 'websocket',
  egress: Pick<Egress, 'checkUrl'>,
): RemoteEndpoint {
  const { url, headers, command, args, env } = request;
  const isOther = [command, args, env].some((value) => value !== undefined);
  if (url === undefined || isOther) {
    throw invalid('endpoint', `the endpoint of ${protocol} is {url, headers?}`);
  }
  const schemes = protocol === 'http' ? (['http', 'https'] as const) : (['ws', 'wss'] as const);
  egress.checkUrl(url, { schemes, field: 'endpoint.url' });
  return { url, ...(headers === undefined ? {} : { headers: readHeaders(headers) }) };
}

function refuseLarge(param: string, value: unknown, bytesMax: number): void {
  const json = JSON.stringify(value);
  if (Buffer.byteLength(json) > bytesMax) {
    throw invalid(param, `${param} may measure at most ${bytesMax} bytes of text`);
  }
  if (!hasFiniteNumbers(value)) throw invalid(param, `a number in ${param} is too large`);
  refuseUnstorable(param, value, json);
}

/** One text that the database refuses would fail all that is stored with it. */
function refuseUnstorable(param: string, value: unknown, json = JSON.stringify(value)): void {
  if (isStorable(json)) return;
  throw invalid(param, `${param} holds half a surrogate pair or U+0000`);
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid', message, { reason: 'validation_error', detail: { param } });
}

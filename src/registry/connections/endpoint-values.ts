import { framingHeaders } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { RemoteEndpoint, StdioEndpoint } from './connection.ts';
import { hiddenValue, redactArguments, redactUrl } from './redaction.ts';

type Values = Readonly<Record<string, string>>;

const valuesMax = 50;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** What no value of a header can hold; each is a whole character. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/u;
const valueLengthMax = 8_192;

/** Throws `invalid` for headers that HTTP cannot carry (RFC 9110, section 5) or that are not theirs. */
export function readHeaders(headers: Values): Values {
  const names = Object.keys(headers);
  const lower = names.map((name) => name.toLowerCase());
  if (names.length > valuesMax || new Set(lower).size < names.length) {
    throw invalid('endpoint.headers', `headers are at most ${valuesMax}, each one once`);
  }
  for (const [name, value] of Object.entries(headers)) {
    const flaw = headerFlaw(name, value);
    if (flaw === undefined) continue;
    throw invalid('endpoint.headers', `the header ${JSON.stringify(name)} ${flaw}`);
  }
  return headers;
}

/** Throws `invalid` for more or longer variables than a process should be given. */
export function readVariables(variables: Values): Values {
  const entries = Object.entries(variables);
  const isFine = entries.every(
    ([name, value]) => name.length <= 128 && value.length <= valueLengthMax,
  );
  if (isFine && entries.length <= valuesMax) return variables;
  const limits = `${valuesMax} variables of ${valueLengthMax} characters each`;
  throw invalid('endpoint.env', `a command may have at most ${limits}`);
}

/** Throws `invalid` (`secret_needed`) where `***` stands for a value that was never given. */
export function refuseHidden(
  endpoint: StdioEndpoint | RemoteEndpoint,
): StdioEndpoint | RemoteEndpoint {
  const values = valuesOf(endpoint);
  const hidden = Object.keys(values).find((name) => values[name] === hiddenValue);
  if (hidden !== undefined) throw secretNeeded(hidden);
  if ('command' in endpoint) {
    if (endpoint.args.some(isHidden)) throw secretNeeded('an argument');
  } else if ([...new URL(endpoint.url).searchParams.values()].includes(hiddenValue)) {
    throw secretNeeded('the address');
  }
  return endpoint;
}

/**
 * An endpoint with the values that `***` stands for; only for the same command or the same origin as
 * before, so that nobody has them sent elsewhere. Throws `invalid` (`secret_needed`) otherwise.
 */
export function restoreHidden(
  given: StdioEndpoint | RemoteEndpoint,
  before: StdioEndpoint | RemoteEndpoint,
): StdioEndpoint | RemoteEndpoint {
  const endpoint = restoreTarget(given, before);
  if (!isSameTarget(endpoint, before)) return refuseHidden(endpoint);
  const known = valuesOf(before);
  const restored: Record<string, string> = {};
  for (const [name, value] of Object.entries(valuesOf(endpoint))) {
    restored[name] = value === hiddenValue ? (known[name] ?? value) : value;
  }
  if (Object.keys(restored).length === 0) return refuseHidden(endpoint);
  return refuseHidden(
    'command' in endpoint ? { ...endpoint, env: restored } : { ...endpoint, headers: restored },
  );
}

/** Puts back what answers hide of arguments and of an address, where it stands as it did there. */
function restoreTarget(
  given: StdioEndpoint | RemoteEndpoint,
  before: StdioEndpoint | RemoteEndpoint,
): StdioEndpoint | RemoteEndpoint {
  if ('url' in given) {
    const isHiddenUrl = 'url' in before && before.url !== '' && given.url === redactUrl(before.url);
    return isHiddenUrl ? { ...given, url: before.url } : given;
  }
  if (!('command' in before) || before.command !== given.command) return given;
  const shown = redactArguments(before.args);
  const args = given.args.map((arg, at) => (arg === shown[at] ? (before.args[at] ?? arg) : arg));
  return { ...given, args };
}

/** Whether two endpoints are the same server: what was learned of one holds for the other. */
export function isSameServer(
  one: StdioEndpoint | RemoteEndpoint,
  other: StdioEndpoint | RemoteEndpoint,
): boolean {
  if ('command' in one) {
    return (
      'command' in other &&
      one.command === other.command &&
      JSON.stringify(one.args) === JSON.stringify(other.args)
    );
  }
  return 'url' in other && one.url === other.url;
}

function isSameTarget(
  one: StdioEndpoint | RemoteEndpoint,
  other: StdioEndpoint | RemoteEndpoint,
): boolean {
  if ('command' in one) return isSameServer(one, other);
  return (
    'url' in other && other.url !== '' && new URL(one.url).origin === new URL(other.url).origin
  );
}

function valuesOf(endpoint: StdioEndpoint | RemoteEndpoint): Values {
  return ('command' in endpoint ? endpoint.env : endpoint.headers) ?? {};
}

/** Tells nothing of the value but the one character. */
function headerFlaw(name: string, value: string): string | undefined {
  if (!headerName.test(name)) return 'has a name that HTTP does not know';
  if (isReserved(name)) return 'cannot be set: it belongs to HTTP or MCP';
  if (value.length > valueLengthMax) return `is longer than ${valueLengthMax} characters`;
  const code = unsendable.exec(value)?.[0].codePointAt(0);
  if (code === undefined) return undefined;
  const character = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return `holds ${character}: HTTP carries U+0020 to U+00FF without U+007F, and tabs`;
}

function isReserved(name: string): boolean {
  const lower = name.toLowerCase();
  return framingHeaders.has(lower) || lower.startsWith('mcp-') || lower.startsWith('sec-');
}

function isHidden(arg: string): boolean {
  return arg === hiddenValue || arg.endsWith(`=${hiddenValue}`);
}

function secretNeeded(name: string): Fault {
  return new Fault('invalid', `the value of ${name} must be given: *** stands for none here`, {
    reason: 'secret_needed',
    detail: { name },
  });
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid', message, { reason: 'validation_error', detail: { param } });
}

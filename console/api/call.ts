import type { Answer, InputOf, Operation, ServiceName } from './contracts.ts';
import { send } from './send.ts';

/** What goes with a request beside what the operation's contract names. */
export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Gives the request up. */
  readonly signal?: AbortSignal;
}

/** Calls an operation of a service through the console's own origin; rejects with a `Refusal`. */
export async function call<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  input: InputOf<S, O> & CallOptions = {},
): Promise<Answer<S, O>> {
  const response = await send(requestOf(service, operation, input));
  // The service answers by its contract.
  return (await response.json()) as Answer<S, O>;
}

/** An operation as a request, for bodies that are no JSON and answers that are read in another way. */
export function requestOf<S extends ServiceName, O extends Operation<S>>(
  service: S,
  operation: O,
  { params, query, body, headers, signal }: InputOf<S, O> & CallOptions,
): Request {
  const [method = 'GET', path = '/'] = operation.split(' ');
  const address = `/services/${service}${fill(path, { ...params })}${writeQuery({ ...query })}`;
  return new Request(address, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
}

/** Parameters of paths are texts and numbers. */
type Params = Readonly<Record<string, string | number>>;

function fill(path: string, params: Params): string {
  return path.replaceAll(/:(\w+)|\*$/g, (found, name: string | undefined) => {
    const value = String(params[name ?? '*'] ?? found);
    return name === undefined
      ? value.split('/').map(encodeURIComponent).join('/')
      : encodeURIComponent(value);
  });
}

function writeQuery(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]): [string, string] => [name, String(value)]);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

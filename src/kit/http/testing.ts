/** A body as tests read it: whatever they expect, and a wrong expectation fails them. */
// oxlint-disable-next-line typescript/no-explicit-any
export type ReadJson = any;

/** An answer with its body read. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** What its JSON says; the text of what is no JSON. */
  readonly body: ReadJson;
}

export interface JsonCall {
  readonly method: string;
  /** Nobody calls when it is absent. */
  readonly bearer?: string | undefined;
  /** Sent as JSON, unless there is none. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as a client of JSON would. */
export async function callJson(
  url: string,
  { method, bearer, body, headers }: JsonCall,
): Promise<JsonAnswer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: parseJson(await response.text()),
  };
}

/** A caller of a server's paths with one token. */
export function callerWith(url: string, bearer: string) {
  return (method: string, path: string, body?: unknown): Promise<JsonAnswer> =>
    callJson(url + path, { method, bearer, body });
}

/** What JSON says; a text that is none as it is. */
export function parseJson(text: string): ReadJson {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An answer that is no success, with the service's own words. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** The service's finer name for what is wrong, where it has one. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Reads any of the services' envelopes. */
  static async from(response: Response): Promise<Refusal> {
    const text = await response.text().catch(() => '');
    const { message, code } = readEnvelope(text);
    return new Refusal(response.status, message ?? (text || response.statusText), code);
  }
}

/** What was refused is refused again; only what did not answer may answer later. */
export function mayPass(error: Error): boolean {
  return !(error instanceof Refusal) || error.status === 0 || error.status >= 502;
}

function readEnvelope(text: string): { message?: string; code?: string } {
  try {
    const body: unknown = JSON.parse(text);
    if (!isRecord(body)) return {};
    const error = isRecord(body['error']) ? body['error'] : body;
    return {
      ...pick('message', error['message'], body['message'], body['error'], error['detail']),
      ...pick('code', error['code'], error['type'], body['code']),
    };
  } catch {
    return {};
  }
}

function pick<K extends string>(key: K, ...values: unknown[]): { [P in K]?: string } {
  const found = values.find((value) => typeof value === 'string');
  return (found === undefined ? {} : { [key]: found }) as { [P in K]?: string };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

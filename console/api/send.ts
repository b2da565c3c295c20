import { Refusal } from './refusal.ts';

/** Told when the session has ended and cannot be renewed. */
type EndListener = () => void;

let listener: EndListener = () => {};
let renewing: Promise<boolean> | undefined;

/** Has one listener told when nobody is logged in any more. */
export function onSessionEnd(told: EndListener): void {
  listener = told;
}

/**
 * Sends a request with the session; renews the session once when its token has run out. Rejects with a
 * `Refusal` for every answer that is no success.
 */
export async function send(request: Request): Promise<Response> {
  const first = await fetchOrRefuse(request.clone());
  if (first.status !== 401) return accept(first);
  renewing ??= renew().finally(() => (renewing = undefined));
  if (await renewing) return accept(await fetchOrRefuse(request));
  listener();
  return accept(first);
}

async function renew(): Promise<boolean> {
  const response = await fetchOrRefuse(new Request('/session/refresh', { method: 'POST' }));
  return response.ok;
}

async function accept(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw await Refusal.from(response);
}

async function fetchOrRefuse(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Refusal(0, 'the console cannot be reached: does Ennead still run?');
  }
}

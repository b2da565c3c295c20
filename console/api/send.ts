import { Refusal } from './refusal.ts';

/** Told whenever the session has ended and cannot be renewed. */
const ends = new EventTarget();
const ended = 'ended';

/** The one renewal for all who found their token run out meanwhile. */
let renewing: Promise<boolean> | undefined;

/** Tells when nobody is logged in any more, until what it answers is called. */
export function onSessionEnd(told: () => void): () => void {
  ends.addEventListener(ended, told);
  return () => ends.removeEventListener(ended, told);
}

/**
 * Sends a request with the session; renews the session once when its token has run out. Rejects with a
 * `Refusal` for every answer that is no success.
 */
export async function send(request: Request): Promise<Response> {
  const first = await reach(request.clone());
  if (first.status !== 401) return accept(first);
  renewing ??= renew().finally(() => (renewing = undefined));
  if (await renewing) return sendOnce(request);
  ends.dispatchEvent(new Event(ended));
  throw new Refusal(401, 'your session had ended, so this was not done: try again');
}

/** Sends a request as it is, with the session or without one. Rejects as `send` does. */
export async function sendOnce(request: Request): Promise<Response> {
  return accept(await reach(request));
}

/** Whether the session goes on. Rejects when nobody can say, as while auth is away. */
async function renew(): Promise<boolean> {
  const response = await reach(new Request('/session/refresh', { method: 'POST' }));
  if (response.status === 401) return false;
  await accept(response);
  return true;
}

async function accept(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw await Refusal.from(response);
}

async function reach(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Refusal(0, 'the console cannot be reached: does Ennead still run?');
  }
}

import { Refusal } from '../api/refusal.ts';
import { send, sendOnce } from '../api/send.ts';

/** Who is logged in: OpenID's claims, as auth tells them. */
export interface Person {
  readonly sub: string;
  readonly name?: string;
  readonly preferred_username?: string;
  readonly email?: string;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly otp?: string;
}

/** Undefined when nobody is. */
export async function readPerson(): Promise<Person | undefined> {
  try {
    return await readAnswer(await send(new Request('/session')));
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return undefined;
    throw error;
  }
}

/** How one may log in. */
export interface LoginMethods {
  readonly password: boolean;
  /** The names of identity providers. */
  readonly providers: readonly string[];
}

export async function readLoginMethods(): Promise<LoginMethods> {
  return (await (await sendOnce(new Request('/session/methods'))).json()) as LoginMethods;
}

/** Answers the provider's address, from which the browser comes back to the page where it is now. */
export async function beginProviderLogin(provider: string): Promise<string> {
  const { pathname, search } = window.location;
  const isFailed = failedLoginReason(search) !== undefined;
  const to = isFailed ? '/' : pathname + search;
  const begun = await sendOnce(jsonRequest('/session/provider', { provider, to }));
  const { location } = (await begun.json()) as { readonly location: string };
  return location;
}

/** Why the browser came back from a provider without a session; undefined where it did not. */
export function failedLoginReason(query: string): string | undefined {
  return new URLSearchParams(query).get('login_failed') ?? undefined;
}

/** Rejects with a `Refusal`; its code says whether a second factor is wanted. */
export async function logIn(login: Login): Promise<Person> {
  return await readAnswer(await sendOnce(jsonRequest('/session', login)));
}

export async function logOut(): Promise<void> {
  await sendOnce(new Request('/session', { method: 'DELETE' }));
}

function jsonRequest(path: string, body: object): Request {
  return new Request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function readAnswer(response: Response): Promise<Person> {
  return (await response.json()) as Person;
}

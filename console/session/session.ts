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

/** Rejects with a `Refusal`; its code says whether a second factor is wanted. */
export async function logIn(login: Login): Promise<Person> {
  const request = new Request('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(login),
  });
  return await readAnswer(await sendOnce(request));
}

export async function logOut(): Promise<void> {
  await sendOnce(new Request('/session', { method: 'DELETE' }));
}

async function readAnswer(response: Response): Promise<Person> {
  return (await response.json()) as Person;
}

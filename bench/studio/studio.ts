import { MeasuredChild } from '../harness/measured-child.ts';

/** What the parent learns of a studio. */
export interface StudioHello {
  readonly url: string;
  readonly token: string;
}

/** Starts a studio without the rest of the suite; the caller disposes of it. */
export function startStudioChild(): Promise<MeasuredChild<StudioHello>> {
  return MeasuredChild.start<StudioHello>(new URL('studio-child.js', import.meta.url), []);
}

/** Asks a studio, and answers its JSON; throws on a refusal. */
export async function ask<Answer>(
  { url, token }: StudioHello,
  { method = 'GET', path, body }: { method?: string; path: string; body?: unknown },
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
  // The studio's answers are typed by whoever asks.
  return JSON.parse(text) as Answer;
}

/** Answers the id of a new workspace. */
export async function makeWorkspace(hello: StudioHello): Promise<string> {
  const body = { name: 'Bench' };
  const made = await ask<{ id: string }>(hello, {
    method: 'POST',
    path: '/api/v1/workspaces',
    body,
  });
  return made.id;
}

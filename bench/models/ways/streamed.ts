import type { Pool } from 'undici';

export interface StreamedRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * Posts a request whose answer is a stream of server-sent events, each a line of JSON, and answers all of them. Calls
 * `onFirst` at the first one. Throws with the body when the status is not 200.
 */
export async function postStreamed(
  pool: Pool,
  { path, headers, body }: StreamedRequest,
  onFirst: () => void,
): Promise<unknown[]> {
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.statusCode !== 200) throw new Error(await answer.body.text());
  const pieces: string[] = [];
  for await (const piece of answer.body.setEncoding('utf8')) {
    if (pieces.push(String(piece)) === 1) onFirst();
  }
  return pieces
    .join('')
    .split('\n')
    .filter((line) => line.startsWith(eventStart) && line !== endLine)
    .map((line) => JSON.parse(line.slice(eventStart.length)) as unknown);
}

const eventStart = 'data: ';
const endLine = 'data: [DONE]';

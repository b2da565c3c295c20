import type { InputOf } from '../api/contracts.ts';
import { namesIn, pairsIn } from '../ui/entry-text.ts';

/** The form of a connection as it is written. */
export interface ConnectionDraft {
  readonly name: string;
  readonly protocol: Protocol;
  readonly command: string;
  /** One on a line, taken as it is. */
  readonly args: string;
  /** `NAME=value`, one on a line. */
  readonly env: string;
  readonly url: string;
  /** `Name: value`, one on a line. */
  readonly headers: string;
  /** Names between commas or on lines. */
  readonly capabilities: string;
  /** Seconds between two checks. */
  readonly interval: string;
}

export type NewConnection = NonNullable<InputOf<'registry', 'POST /connections'>['body']>;
export type Protocol = NonNullable<NewConnection['protocol']>;

/** What is sent for a draft; throws a sentence where the draft itself cannot be read. */
export function connectionOf(draft: ConnectionDraft): NewConnection {
  const { name, protocol, interval } = draft;
  const capabilities = namesIn(draft.capabilities);
  return {
    name: name.trim(),
    type: 'server',
    protocol,
    endpoint: protocol === 'stdio' ? commandOf(draft) : addressOf(draft),
    ...(capabilities.length > 0 ? { capabilities } : {}),
    ...(interval === '' ? {} : { healthCheck: { interval: Number(interval) } }),
  };
}

function commandOf({ command, args, env }: ConnectionDraft) {
  const words = args.split('\n').filter((line) => line.trim() !== '');
  const variables = pairsIn(env, '=');
  return {
    command: command.trim(),
    ...(words.length > 0 ? { args: words } : {}),
    ...(Object.keys(variables).length > 0 ? { env: variables } : {}),
  };
}

function addressOf({ url, headers }: ConnectionDraft) {
  const pairs = pairsIn(headers, ':');
  return { url: url.trim(), ...(Object.keys(pairs).length > 0 ? { headers: pairs } : {}) };
}

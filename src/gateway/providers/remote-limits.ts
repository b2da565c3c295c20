import { durationMs } from '../dialects/openai/retry-after.ts';
import type { RemoteLimit } from './provider-status.ts';
import type { Provider } from './provider.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
type Header = Headers[string];

interface Note {
  readonly remaining: Header;
  readonly reset: Header;
  readonly atMs: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const firstPlausibleTime = 1_000_000_000;

/** What hosted providers last said of the requests that their own limits still allow. */
export class RemoteLimits {
  /** By the object: other settings may mean another account. */
  readonly #notes = new WeakMap<Provider, Note>();

  /** Keeps what the headers of an answer say, as it stands: it is read when somebody asks. */
  note(provider: Provider, headers: Headers): void {
    if (provider.dialect === 'anthropic') {
      const remaining = headers['anthropic-ratelimit-requests-remaining'];
      if (remaining === undefined) return;
      const reset = headers['anthropic-ratelimit-requests-reset'];
      this.#notes.set(provider, { remaining, reset, atMs: Date.now() });
    } else if (provider.dialect === 'openai') {
      this.#noteOpenAi(provider, headers);
    }
  }

  /** Undefined when it said nothing, or what it said is over. */
  of(provider: Provider): RemoteLimit | undefined {
    const note = this.#notes.get(provider);
    if (!note) return undefined;
    const remaining = amountOf(textOf(note.remaining));
    const resetMs = resetTimeOf(textOf(note.reset), note.atMs);
    if (remaining === undefined || resetMs <= Date.now()) return undefined;
    return { remaining, resetAt: new Date(resetMs) };
  }

  #noteOpenAi(provider: Provider, headers: Headers): void {
    const ofRequests = headers['x-ratelimit-remaining-requests'];
    const remaining = ofRequests ?? headers['x-ratelimit-remaining'];
    if (remaining === undefined) return;
    const name = ofRequests === undefined ? 'x-ratelimit-reset' : 'x-ratelimit-reset-requests';
    this.#notes.set(provider, { remaining, reset: headers[name], atMs: Date.now() });
  }
}

function textOf(header: Header): string {
  return (typeof header === 'string' ? header : header?.[0])?.trim() ?? '';
}

function amountOf(text: string): number | undefined {
  const amount = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

/** A duration, seconds, Unix time in seconds or milliseconds, or a date; else a minute later. */
function resetTimeOf(text: string, atMs: number): number {
  const time = timeOf(text, atMs);
  const isPlausible = Number.isFinite(time) && Math.abs(time - atMs) <= 31 * dayMs;
  return isPlausible ? time : atMs + minuteMs;
}

function timeOf(text: string, atMs: number): number {
  const amount = amountOf(text);
  if (amount === undefined) {
    const duration = durationMs(text);
    return duration === undefined ? Date.parse(text) : atMs + duration;
  }
  if (amount < firstPlausibleTime) return atMs + amount * 1000;
  return amount < firstPlausibleTime * 1000 ? amount * 1000 : amount;
}

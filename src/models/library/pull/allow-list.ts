import { Fault } from '../../../kit/errors.ts';

/** Hugging Face and Ollama's registry, each with the hosts that they send downloads to. */
export const allowedHostsDefault = [
  'huggingface.co',
  'hf.co',
  '*.hf.co',
  'cdn-lfs.huggingface.co',
  'registry.ollama.ai',
  // Where the registry keeps its blobs.
  'dd20bb891979d25aebc8bec07b2b3bbc.r2.cloudflarestorage.com',
].join(',');

/**
 * The hosts that models may come from. An entry is `host`, `*.host` (its subdomains) or `host:port`.
 * Only https, and http for a host of this machine that is named.
 */
export class AllowList {
  readonly #entries: readonly string[];

  constructor(list: string) {
    this.#entries = list
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter((entry) => entry !== '');
  }

  /** Fault `forbidden` when nothing may be fetched from there. */
  check(url: URL): void {
    const isScheme =
      url.protocol === 'https:' || (url.protocol === 'http:' && isThisMachine(url.hostname));
    if (isScheme && this.#entries.some((entry) => isMatch(entry, url))) return;
    throw new Fault('forbidden', `models may not be pulled from ${url.origin}`, {
      reason: 'pull_not_allowed',
      detail: { allowed: this.#entries, setting: 'MODELS_PULL_ALLOW' },
    });
  }
}

function isMatch(entry: string, url: URL): boolean {
  if (entry === url.host) return true;
  if (entry.startsWith('*.')) return url.port === '' && url.hostname.endsWith(entry.slice(1));
  const isAnyPort = isThisMachine(url.hostname) || url.port === '';
  return isAnyPort && entry === url.hostname;
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

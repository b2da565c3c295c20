import type { Secret } from '../../../kit/config.ts';
import type { ExternalRuntime } from './external-runtime.ts';
import { OllamaRuntime } from './ollama.ts';
import { OpenAiRuntime } from './openai.ts';
import { Peer } from './peer.ts';

/** Where external runtimes are, as the settings name them; those without an address are not used. */
export interface RuntimeAddresses {
  readonly ollamaUrl?: string | undefined;
  readonly ollamaApiKey?: Secret | undefined;
  readonly llamaServerUrl?: string | undefined;
  readonly llamaServerApiKey?: Secret | undefined;
  readonly openAiUrl?: string | undefined;
  readonly openAiApiKey?: Secret | undefined;
}

export interface ExternalRuntimes extends AsyncDisposable {
  readonly runtimes: readonly ExternalRuntime[];
}

/** Makes the clients of all external runtimes; asks none of them anything yet. */
export function openRuntimes(addresses: RuntimeAddresses): ExternalRuntimes {
  const peers: Peer[] = [];
  const runtimes: ExternalRuntime[] = [];
  const open = (name: string, url: string, apiKey: Secret | undefined): Peer => {
    const peer = new Peer({ name, url, apiKey });
    peers.push(peer);
    return peer;
  };
  const { ollamaUrl, llamaServerUrl, openAiUrl } = addresses;
  if (ollamaUrl !== undefined) {
    const peer = open('ollama', withoutSlash(ollamaUrl), addresses.ollamaApiKey);
    runtimes.push(new OllamaRuntime(peer));
  }
  if (llamaServerUrl !== undefined) {
    const url = `${withoutSlash(llamaServerUrl).replace(/\/v1$/, '')}/v1`;
    const name = 'llama-server';
    runtimes.push(new OpenAiRuntime(name, open(name, url, addresses.llamaServerApiKey)));
  }
  if (openAiUrl !== undefined) {
    const peer = open('openai', withoutSlash(openAiUrl), addresses.openAiApiKey);
    runtimes.push(new OpenAiRuntime('openai', peer));
  }
  return {
    runtimes,
    async [Symbol.asyncDispose]() {
      await Promise.all(peers.map((peer) => peer[Symbol.asyncDispose]()));
    },
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

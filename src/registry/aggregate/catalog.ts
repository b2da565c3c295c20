import type { Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/client';
import type { Connection, ConnectionChange, Directory } from '../connections/connection.ts';
import {
  isListed,
  isSameOffer,
  qualify,
  toolAs,
  toolsOf,
  unqualify,
  type Entry,
  type View,
} from './entry.ts';
import { Listing } from './listing.ts';

/** How long changes are gathered before listeners hear of them. */
const gatherMs = 50;

/**
 * What all active and idle servers offer, from what was learned of them: a listing asks no server.
 * Tools and prompts are found by their qualified names without any listing, but for those whose names
 * not every client would take.
 */
export class Catalog implements View, Disposable {
  readonly #directory: Directory;
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  #listing: Listing | undefined;
  #version = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(directory: Directory) {
    this.#directory = directory;
    this.#stop = directory.onChange((change) => {
      if (isListingChanged(change)) this.#change();
    });
  }

  /** Grows when anything of it changes. */
  get version(): number {
    return this.#version;
  }

  /** Called after changes, once for those that come together. The answer ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A listed server by its name or its id. */
  server(nameOrId: string): Connection | undefined {
    const found = this.#directory.findByName(nameOrId) ?? this.#directory.find(nameOrId);
    return found && isListed(found) ? found : undefined;
  }

  /** In the order of their registration. */
  *servers(): Iterable<Connection> {
    for (const connection of this.#directory.all()) {
      if (isListed(connection)) yield connection;
    }
  }

  tools(): readonly Entry<Tool>[] {
    return [...this.#current().tools.values()];
  }

  prompts(): readonly Entry<Prompt>[] {
    return [...this.#current().prompts.values()];
  }

  resources(): readonly Entry<Resource>[] {
    return this.#current().resources();
  }

  templates(): readonly Entry<ResourceTemplateType>[] {
    return [...this.#current().templates.values()];
  }

  findTool(name: string): Entry<Tool> | undefined {
    const { server, ownName } = this.#locate(name);
    const tool = server && toolsOf(server).find((offered) => offered.name === ownName);
    if (!server || !tool) return this.#current().tools.get(name);
    return { listed: toolAs(tool, name), connectionId: server.id, ownName: tool.name };
  }

  findPrompt(name: string): Entry<Prompt> | undefined {
    const { server, ownName } = this.#locate(name);
    const prompt = server?.offer?.prompts.find((offered) => offered.name === ownName);
    if (!server || !prompt) return this.#current().prompts.get(name);
    return { listed: { ...prompt, name }, connectionId: server.id, ownName: prompt.name };
  }

  findResource(uri: string): Entry<Resource> | undefined {
    return this.#current().findResource(uri);
  }

  [Symbol.dispose](): void {
    this.#stop();
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #locate(name: string): { server?: Connection | undefined; ownName?: string } {
    const parts = unqualify(name);
    if (!parts) return {};
    const found = this.#directory.findByName(parts.server);
    return found && isListed(found) ? { server: found, ownName: parts.ownName } : {};
  }

  #current(): Listing {
    this.#listing ??= this.#gather();
    return this.#listing;
  }

  #gather(): Listing {
    const listing = new Listing();
    for (const server of this.servers()) {
      listing.addAll(server, (ownName) => qualify(server.name, ownName));
    }
    return listing;
  }

  #change(): void {
    this.#version += 1;
    this.#listing = undefined;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, gatherMs).unref();
  }
}

/** True for changes that a listing shows; most changes are of health and activity. */
export function isListingChanged({ before, after }: ConnectionChange): boolean {
  const wasListed = before !== undefined && isListed(before);
  if (!wasListed || !isListed(after)) return wasListed !== isListed(after);
  return (
    before.name !== after.name ||
    before.quarantined.join('\n') !== after.quarantined.join('\n') ||
    !isSameOffer(before.offer, after.offer)
  );
}

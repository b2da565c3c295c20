import type { Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/client';
import type { Connection } from '../connections/connection.ts';
import type { Catalog } from './catalog.ts';
import { qualify, toolsOf, type Entry, type View } from './entry.ts';
import { Listing } from './listing.ts';
import { all, type Definition, type Pick } from './virtual-server.ts';

interface State {
  readonly version: number;
  readonly listing: Listing;
  readonly tools: readonly Entry<Tool>[];
  readonly missing: readonly string[];
}

/** What a virtual server has of the catalog now, in the order in which it was picked. */
export class VirtualView implements View {
  readonly #catalog: Catalog;
  readonly #definition: Definition;
  #state: State | undefined;

  constructor(catalog: Catalog, definition: Definition) {
    this.#catalog = catalog;
    this.#definition = definition;
  }

  /** What was picked and is not reached now: no server offers it, or an earlier pick has its name. */
  get missing(): readonly string[] {
    return this.#current().missing;
  }

  tools(): readonly Entry<Tool>[] {
    return this.#current().tools;
  }

  prompts(): readonly Entry<Prompt>[] {
    return [...this.#current().listing.prompts.values()];
  }

  resources(): readonly Entry<Resource>[] {
    return this.#current().listing.resources();
  }

  templates(): readonly Entry<ResourceTemplateType>[] {
    return [...this.#current().listing.templates.values()];
  }

  findTool(name: string): Entry<Tool> | undefined {
    return this.#current().listing.tools.get(name);
  }

  findPrompt(name: string): Entry<Prompt> | undefined {
    return this.#current().listing.prompts.get(name);
  }

  findResource(uri: string): Entry<Resource> | undefined {
    return this.#current().listing.findResource(uri);
  }

  #current(): State {
    const { version } = this.#catalog;
    if (this.#state?.version !== version) this.#state = { version, ...this.#gather() };
    return this.#state;
  }

  #gather(): Omit<State, 'version'> {
    const listing = new Listing();
    const { tools, prompts, resources } = this.#definition;
    const missing = new Set([
      ...this.#take(tools, (server, pick) => addTools(listing, server, pick)),
      ...this.#take(prompts, (server, pick) => addPrompts(listing, server, pick)),
      ...this.#take(resources, (server, pick) => addResources(listing, server, pick)),
    ]);
    return { listing, tools: [...listing.tools.values()], missing: [...missing] };
  }

  #take(picks: readonly Pick[], add: (server: Connection, pick: Pick) => Added): string[] {
    return picks.flatMap((pick) => {
      const server = this.#catalog.server(pick.connection);
      const added = server && add(server, pick);
      if (!server || !added || added.count === 0) return [qualify(pick.connection, pick.own)];
      return added.shadowed.map((ownName) => qualify(server.name, ownName));
    });
  }
}

/** What came of a pick. */
interface Added {
  /** That the server offers of it. */
  readonly count: number;
  /** The server's own names of those whose names here were taken already. */
  readonly shadowed: readonly string[];
}

function addTools(listing: Listing, server: Connection, pick: Pick): Added {
  const tools = toolsOf(server).filter(({ name }) => isPicked(pick, name));
  const shadowed = tools.filter(
    (tool) => !listing.addTool(server, tool, nameOf(server, pick, tool.name)),
  );
  return { count: tools.length, shadowed: shadowed.map(({ name }) => name) };
}

function addPrompts(listing: Listing, server: Connection, pick: Pick): Added {
  const prompts = (server.offer?.prompts ?? []).filter(({ name }) => isPicked(pick, name));
  const shadowed = prompts.filter(
    (prompt) => !listing.addPrompt(server, prompt, nameOf(server, pick, prompt.name)),
  );
  return { count: prompts.length, shadowed: shadowed.map(({ name }) => name) };
}

function addResources(listing: Listing, server: Connection, pick: Pick): Added {
  const { resources = [], resourceTemplates = [] } = server.offer ?? {};
  const picked = resources.filter(({ uri }) => isPicked(pick, uri));
  const templates = resourceTemplates.filter(({ uriTemplate }) => isPicked(pick, uriTemplate));
  for (const resource of picked) listing.addResource(server, resource);
  for (const template of templates) listing.addTemplate(server, template);
  // A resource that several servers have is named with all of them.
  return { count: picked.length + templates.length, shadowed: [] };
}

function isPicked({ own }: Pick, name: string): boolean {
  return own === all || own === name;
}

function nameOf(server: Connection, { as }: Pick, ownName: string): string {
  return as === undefined ? qualify(server.name, ownName) : as.replaceAll(all, () => ownName);
}

import type { Prompt, Resource, ResourceTemplateType, Tool } from '@modelcontextprotocol/client';
import type { Connection } from '../connections/connection.ts';
import { toolAs, toolsOf, toSafeName, withSharers, type Entry } from './entry.ts';

/**
 * Gathers entries under names that are unique: of several the first one stays. What adds a tool or a
 * prompt answers whether it is the one of that name.
 */
export class Listing {
  readonly tools = new Map<string, Entry<Tool>>();
  readonly prompts = new Map<string, Entry<Prompt>>();
  readonly templates = new Map<string, Entry<ResourceTemplateType>>();
  readonly #resources = new Map<string, Entry<Resource>>();
  readonly #sharers = new Map<string, string[]>();

  addTool(connection: Connection, tool: Tool, wanted: string): boolean {
    const name = toSafeName(wanted);
    const known = this.tools.get(name);
    if (known) return isOf(known, connection, tool.name);
    const listed = toolAs(tool, name);
    this.tools.set(name, { listed, connectionId: connection.id, ownName: tool.name });
    return true;
  }

  addPrompt(connection: Connection, prompt: Prompt, wanted: string): boolean {
    const name = toSafeName(wanted);
    const known = this.prompts.get(name);
    if (known) return isOf(known, connection, prompt.name);
    const listed = { ...prompt, name };
    this.prompts.set(name, { listed, connectionId: connection.id, ownName: prompt.name });
    return true;
  }

  /** A further server of the same uri is named in `_meta`. */
  addResource(connection: Connection, resource: Resource): void {
    const { uri } = resource;
    const first = this.#resources.get(uri);
    if (!first) {
      const entry = { listed: resource, connectionId: connection.id, ownName: uri };
      this.#resources.set(uri, entry);
    } else if (first.connectionId !== connection.id) {
      const sharers = this.#sharers.get(uri) ?? [];
      if (!sharers.includes(connection.name)) this.#sharers.set(uri, [...sharers, connection.name]);
    }
  }

  addTemplate(connection: Connection, template: ResourceTemplateType): void {
    const { uriTemplate } = template;
    if (this.templates.has(uriTemplate)) return;
    const entry = { listed: template, connectionId: connection.id, ownName: uriTemplate };
    this.templates.set(uriTemplate, entry);
  }

  findResource(uri: string): Entry<Resource> | undefined {
    return this.#resources.get(uri);
  }

  resources(): Entry<Resource>[] {
    return [...this.#resources.values()].map((entry) => ({
      ...entry,
      listed: withSharers(entry.listed, this.#sharers.get(entry.ownName) ?? []),
    }));
  }

  /** All of a server, its tools and prompts under the names that `rename` gives. */
  addAll(connection: Connection, rename: (ownName: string) => string): void {
    for (const tool of toolsOf(connection)) this.addTool(connection, tool, rename(tool.name));
    for (const prompt of connection.offer?.prompts ?? []) {
      this.addPrompt(connection, prompt, rename(prompt.name));
    }
    this.addResources(connection);
  }

  addResources(connection: Connection): void {
    for (const resource of connection.offer?.resources ?? []) {
      this.addResource(connection, resource);
    }
    for (const template of connection.offer?.resourceTemplates ?? []) {
      this.addTemplate(connection, template);
    }
  }
}

function isOf(entry: Entry<unknown>, { id }: Connection, ownName: string): boolean {
  return entry.connectionId === id && entry.ownName === ownName;
}

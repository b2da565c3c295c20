import type { Log } from '../../kit/log.ts';
import { McpEndpoint, type McpRequest } from '../../kit/mcp/endpoint.ts';
import type { McpFeatures } from '../../kit/mcp/methods.ts';
import type { Directory } from '../connections/connection.ts';
import type { Catalog } from './catalog.ts';
import type { Errands } from './errands.ts';
import { viewFeatures } from './features.ts';
import { leanFeatures } from './lean.ts';
import { CatalogSearch, createViewSearch, type ToolSearch } from './tool-search.ts';
import type { VirtualServer } from './virtual-server.ts';
import type { VirtualServerChange, VirtualServers } from './virtual-servers.ts';

export interface DoorsParts {
  readonly catalog: Catalog;
  readonly directory: Directory;
  readonly virtualServers: VirtualServers;
  readonly errands: Errands;
  readonly url: string;
  readonly version: string;
  readonly log: Log;
}

export type Mode = 'full' | 'lean';

type McpAnswer = Awaited<ReturnType<McpEndpoint['handle']>>;

interface Door {
  readonly endpoint: McpEndpoint;
  readonly virtualServerId?: string;
}

const instructions =
  'Tools, prompts and resources of many MCP servers. A tool is named server__tool, a prompt ' +
  'server__prompt.';
const leanInstructions =
  'Tools of many MCP servers: registry_search finds them, registry_describe tells what they take, ' +
  'registry_call calls them.';

/**
 * The MCP servers that the registry is: one for all, one for each virtual server, each in two modes.
 * They are made when somebody first speaks to them, and told when what they have changes.
 */
export class Doors implements AsyncDisposable {
  readonly #parts: DoorsParts;
  readonly #doors = new Map<string, Door>();
  readonly #search: CatalogSearch;
  readonly #stops: readonly (() => void)[];

  constructor(parts: DoorsParts) {
    this.#parts = parts;
    this.#search = new CatalogSearch(parts.catalog, parts.directory);
    this.#stops = [
      parts.catalog.onChange(() => this.#tellAll()),
      parts.virtualServers.onChange((change) => this.#change(change)),
    ];
  }

  /** Answers as all servers together. */
  handle(request: McpRequest, mode: Mode = 'full'): Promise<McpAnswer> {
    const door = this.#doors.get(mode) ?? this.#open(mode);
    return door.endpoint.handle(request);
  }

  /** Answers as a virtual server, by its id or name; Fault `virtual_server_not_found`. */
  async handleVirtual(idOrName: string, request: McpRequest, mode?: Mode): Promise<McpAnswer> {
    const server = this.#parts.virtualServers.require(idOrName);
    const chosen = mode ?? (server.isLean ? 'lean' : 'full');
    const key = `${server.id} ${chosen}`;
    const door = this.#doors.get(key) ?? this.#openVirtual(key, server, chosen);
    return door.endpoint.handle(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#search[Symbol.dispose]();
    const doors = [...this.#doors.values()];
    this.#doors.clear();
    await Promise.all(doors.map(({ endpoint }) => endpoint[Symbol.asyncDispose]()));
  }

  #open(mode: Mode): Door {
    const { catalog, errands } = this.#parts;
    const view = () => catalog;
    const features =
      mode === 'lean'
        ? leanFeatures({ view, search: () => this.#search, errands })
        : viewFeatures(view, errands);
    const door = {
      endpoint: this.#createEndpoint(features, {
        name: 'ennead-registry',
        title: 'Ennead Registry',
        instructions: mode === 'lean' ? leanInstructions : instructions,
      }),
    };
    this.#doors.set(mode, door);
    return door;
  }

  #openVirtual(key: string, { id, name, description }: VirtualServer, mode: Mode): Door {
    const { virtualServers, errands } = this.#parts;
    const view = () => virtualServers.viewOf(virtualServers.require(id));
    let search: { readonly of: unknown; readonly in: ToolSearch } | undefined;
    const currentSearch = () => {
      const now = view();
      if (search?.of !== now) search = { of: now, in: createViewSearch(now) };
      return search.in;
    };
    const features =
      mode === 'lean'
        ? leanFeatures({ view, search: currentSearch, errands })
        : viewFeatures(view, errands);
    const told = mode === 'lean' ? leanInstructions : '';
    const words = { name, title: name, instructions: [description, told].join(' ').trim() };
    const door = { endpoint: this.#createEndpoint(features, words), virtualServerId: id };
    this.#doors.set(key, door);
    return door;
  }

  #createEndpoint(
    features: McpFeatures,
    words: { readonly name: string; readonly title: string; readonly instructions: string },
  ): McpEndpoint {
    const { url, version, log } = this.#parts;
    return new McpEndpoint({ ...features, ...words, url, version, log });
  }

  #tellAll(): void {
    for (const { endpoint } of this.#doors.values()) this.#tell(endpoint);
  }

  #tell(endpoint: McpEndpoint): void {
    endpoint.tellChanged().catch((err: unknown) => {
      this.#parts.log.debug({ err }, 'listeners could not be told of a change');
    });
  }

  /** One that goes, or says something else of itself, ends its listeners, who then ask again. */
  #change({ before, after }: VirtualServerChange): void {
    if (!before) return;
    const isSame = before.name === after?.name && before.description === after.description;
    for (const [key, { endpoint, virtualServerId }] of this.#doors) {
      if (virtualServerId !== before.id) continue;
      if (isSame) {
        this.#tell(endpoint);
        continue;
      }
      this.#doors.delete(key);
      endpoint[Symbol.asyncDispose]().catch((err: unknown) => {
        this.#parts.log.debug({ err }, 'a virtual server did not close');
      });
    }
  }
}

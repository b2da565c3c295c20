import type { Tool } from '@modelcontextprotocol/client';
import type { Connection, Directory } from '../connections/connection.ts';
import { isListingChanged, type Catalog } from './catalog.ts';
import { isListed, qualify, toolsOf, type Entry, type View } from './entry.ts';
import { SearchIndex, type SearchDocument } from './search-index.ts';

/** Finds tools by words of their names and descriptions; answers names of the view, best first. */
export interface ToolSearch {
  search(query: string, limit: number): string[];
}

/**
 * Searches all tools of a catalog. The index is made when somebody searches first, and then kept by
 * the changes of the directory.
 */
export class CatalogSearch implements ToolSearch, Disposable {
  readonly #catalog: Catalog;
  readonly #directory: Directory;
  readonly #names = new Map<string, readonly string[]>();
  #index: SearchIndex | undefined;
  #stop = () => {};

  constructor(catalog: Catalog, directory: Directory) {
    this.#catalog = catalog;
    this.#directory = directory;
  }

  search(query: string, limit: number): string[] {
    return (this.#index ?? this.#open()).search(query, limit).map(({ key }) => key);
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #open(): SearchIndex {
    const index = new SearchIndex();
    this.#index = index;
    for (const server of this.#catalog.servers()) this.#add(index, server);
    this.#stop = this.#directory.onChange((change) => {
      if (!isListingChanged(change)) return;
      const { after } = change;
      for (const name of this.#names.get(after.id) ?? []) index.remove(name);
      this.#names.delete(after.id);
      if (isListed(after)) this.#add(index, after);
    });
    return index;
  }

  #add(index: SearchIndex, server: Connection): void {
    const names = toolsOf(server).map((tool) => {
      const name = qualify(server.name, tool.name);
      index.add(documentOf(tool, name));
      return name;
    });
    this.#names.set(server.id, names);
  }
}

/** Searches the tools that a view has now; for views of a few. */
export function createViewSearch(view: View): ToolSearch {
  let indexed: readonly Entry<Tool>[] | undefined;
  let index = new SearchIndex();
  return {
    search: (query, limit) => {
      const tools = view.tools();
      if (tools !== indexed) {
        index = new SearchIndex();
        for (const { listed } of tools) index.add(documentOf(listed, listed.name));
        indexed = tools;
      }
      return index.search(query, limit).map(({ key }) => key);
    },
  };
}

function documentOf({ title, description }: Tool, name: string): SearchDocument {
  return { key: name, name, text: `${title ?? ''} ${description ?? ''}` };
}

import { InvalidArgumentError } from 'commander';
import { printRemark } from './output.ts';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A page of a listing, and how long the whole of it is. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** What was read of a listing: its items, and the rest of an answer of the API that holds them. */
export interface ListedPage<Item> {
  readonly items: readonly Item[];
  readonly rest: Page & { readonly total: number };
}

const pageItemsMax = 100;

/** Reads the first `limit` items of a listing, page by page. */
export async function readItems<Item>(
  limit: number,
  fetch: (page: Page) => Promise<Listed<Item>>,
): Promise<ListedPage<Item>> {
  const items: Item[] = [];
  for (;;) {
    const wanted = Math.min(pageItemsMax, limit - items.length);
    const page = await fetch({ limit: wanted, offset: items.length });
    items.push(...page.items);
    const isLast = page.items.length < wanted || items.length >= page.total;
    if (!isLast && items.length < limit) continue;
    return { items, rest: { total: page.total, limit, offset: 0 } };
  }
}

/** The value of a `--limit` option. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** Says on standard error that a listing was cut. */
export function remarkOnRest({ items, rest: { total } }: ListedPage<unknown>): void {
  if (items.length < total) printRemark(`${items.length} of ${total}; --limit shows more`);
}

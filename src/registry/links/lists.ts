import type {
  Client,
  Prompt,
  RequestOptions,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import { answerTooLarge } from './link-faults.ts';
import type { Offer } from './link.ts';

/** Of each kind. */
const itemsMax = 1_000;
const pagesMax = 200;
const bytesMax = 10 * 1024 * 1024;
const methodNotFound = -32_601;

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
}

interface Budget {
  bytesLeft: number;
  readonly endsAtMs: number;
}

/**
 * Every list that the server says it has, page by page; Fault `upstream` (`answer_too_large`) when
 * that is more than 1,000 of one kind or 10 MiB, and the SDK's errors.
 */
export async function listOffer(client: Client, options: RequestOptions): Promise<Offer> {
  const capabilities = client.getServerCapabilities() ?? {};
  const budget = { bytesLeft: bytesMax, endsAtMs: Date.now() + (options.timeout ?? 60_000) };
  const walk = <T>(read: (cursor: Cursor, options: RequestOptions) => Promise<Page<T>>) =>
    walkPages(budget, (cursor) => read(cursor, { ...options, timeout: msLeft(budget) }));
  const tools = capabilities.tools ? await walk<Tool>(toolPages(client)) : [];
  const prompts = capabilities.prompts ? await walk<Prompt>(promptPages(client)) : [];
  const hasResources = capabilities.resources !== undefined;
  const resources = hasResources ? await walk<Resource>(resourcePages(client)) : [];
  const resourceTemplates = hasResources ? await ifOffered(walk(templatePages(client))) : [];
  return { tools, prompts, resources, resourceTemplates };
}

type Cursor = { readonly cursor: string } | undefined;

function toolPages(client: Client) {
  return async (params: Cursor, options: RequestOptions): Promise<Page<Tool>> => {
    const page = await client.request({ method: 'tools/list', ...at(params) }, options);
    return { items: page.tools, nextCursor: page.nextCursor };
  };
}

function promptPages(client: Client) {
  return async (params: Cursor, options: RequestOptions): Promise<Page<Prompt>> => {
    const page = await client.request({ method: 'prompts/list', ...at(params) }, options);
    return { items: page.prompts, nextCursor: page.nextCursor };
  };
}

function resourcePages(client: Client) {
  return async (params: Cursor, options: RequestOptions): Promise<Page<Resource>> => {
    const page = await client.request({ method: 'resources/list', ...at(params) }, options);
    return { items: page.resources, nextCursor: page.nextCursor };
  };
}

function templatePages(client: Client) {
  return async (params: Cursor, options: RequestOptions): Promise<Page<ResourceTemplateType>> => {
    const request = { method: 'resources/templates/list', ...at(params) } as const;
    const page = await client.request(request, options);
    return { items: page.resourceTemplates, nextCursor: page.nextCursor };
  };
}

function at(params: Cursor) {
  return params ? { params } : {};
}

async function walkPages<T>(
  budget: Budget,
  read: (cursor: Cursor) => Promise<Page<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: Cursor;
  for (let count = 0; count < pagesMax; count++) {
    const page = await read(cursor);
    items.push(...page.items);
    budget.bytesLeft -= JSON.stringify(page.items).length;
    if (items.length > itemsMax) throw tooMany();
    if (budget.bytesLeft < 0) throw answerTooLarge(bytesMax);
    if (page.nextCursor === undefined || page.nextCursor === '') return items;
    if (page.nextCursor === cursor?.cursor) return items;
    cursor = { cursor: page.nextCursor };
  }
  throw tooMany();
}

/** Servers with resources need not know of templates. */
async function ifOffered<T>(reading: Promise<T[]>): Promise<T[]> {
  try {
    return await reading;
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === methodNotFound) return [];
    throw error;
  }
}

function msLeft({ endsAtMs }: Budget): number {
  return Math.max(1, endsAtMs - Date.now());
}

function tooMany(): Fault {
  return new Fault('upstream', `the server lists more than ${itemsMax} of a kind`, {
    reason: 'answer_too_large',
  });
}

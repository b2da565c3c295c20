import type {
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { McpCallContext, McpCaller } from './tools.ts';

export type {
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';

/** The prompts of an MCP server. A Fault that it throws leaves as a JSON-RPC error. */
export interface McpPrompts {
  list(caller: McpCaller): Promise<readonly Prompt[]> | readonly Prompt[];
  get(
    name: string,
    input: Readonly<Record<string, string>>,
    context: McpCallContext,
  ): Promise<GetPromptResult>;
}

/** The resources of an MCP server. A Fault that it throws leaves as a JSON-RPC error. */
export interface McpResources {
  list(caller: McpCaller): Promise<readonly Resource[]> | readonly Resource[];
  listTemplates(
    caller: McpCaller,
  ): Promise<readonly ResourceTemplateType[]> | readonly ResourceTemplateType[];
  read(uri: string, context: McpCallContext): Promise<ReadResourceResult>;
}

/** Proposes values for arguments of prompts and of resource templates. */
export interface McpCompletions {
  complete(request: CompleteRequestParams, context: McpCallContext): Promise<CompleteResult>;
}

/** How long answers to listings hold (SEP-2549), for clients of the stateless protocol. */
export interface McpCaching {
  readonly ttlMs: number;
  /** `public` where every caller gets the same lists. */
  readonly scope: 'public' | 'private';
}

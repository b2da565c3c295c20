import { Fault } from '../../kit/errors.ts';
import type { McpFeatures } from '../../kit/mcp/methods.ts';
import type { CompleteRequestParams, McpPrompts, McpResources } from '../../kit/mcp/offers.ts';
import type { McpTools } from '../../kit/mcp/tools.ts';
import type { View } from './entry.ts';
import type { Errands, Target } from './errands.ts';
import { findTemplate } from './templates.ts';

/** Gives the view as it is at that moment. */
export type ViewNow = () => View;

/** An MCP server that has what a view has, and has servers do what is asked of it. */
export function viewFeatures(view: ViewNow, errands: Errands): McpFeatures {
  return {
    tools: viewTools(view, errands),
    prompts: viewPrompts(view, errands),
    resources: viewResources(view, errands),
    completions: {
      complete: (request, context) => {
        const { target, renamed } = completionTarget(view(), request);
        return errands.complete(target, renamed, context);
      },
    },
    // Listeners are told of changes; what others keep is right after this.
    caching: { ttlMs: 10_000, scope: 'private' },
    isChanging: true,
  };
}

function viewTools(view: ViewNow, errands: Errands): McpTools {
  return {
    list: () =>
      view()
        .tools()
        .map(({ listed }) => listed),
    call: async (name, input, context) =>
      errands.callTool(requireTool(view(), name), asObject(input), context),
  };
}

function viewPrompts(view: ViewNow, errands: Errands): McpPrompts {
  return {
    list: () =>
      view()
        .prompts()
        .map(({ listed }) => listed),
    get: async (name, input, context) => {
      const prompt = view().findPrompt(name);
      if (prompt) return errands.getPrompt(prompt, input, context);
      throw new Fault('not_found', `there is no prompt ${name}`, { reason: 'prompt_not_found' });
    },
  };
}

function viewResources(view: ViewNow, errands: Errands): McpResources {
  return {
    list: () =>
      view()
        .resources()
        .map(({ listed }) => listed),
    listTemplates: () =>
      view()
        .templates()
        .map(({ listed }) => listed),
    read: async (uri, context) => {
      const found = view().findResource(uri) ?? findTemplate(view().templates(), uri);
      if (found) return errands.readResource(found.connectionId, uri, context);
      throw new Fault('not_found', 'no server has this resource', {
        reason: 'resource_not_found',
        detail: { uri },
      });
    },
  };
}

/** Fault `tool_not_found`. */
export function requireTool(view: View, name: string): Target {
  const tool = view.findTool(name);
  if (tool) return tool;
  throw new Fault('not_found', `there is no tool ${name}`, { reason: 'tool_not_found' });
}

/** What is not an object is no argument of any tool. */
export function asObject(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? { ...input } : {};
}

function completionTarget(
  view: View,
  request: CompleteRequestParams,
): { target: Target; renamed: CompleteRequestParams } {
  const { ref } = request;
  if (ref.type === 'ref/prompt') {
    const target = view.findPrompt(ref.name);
    if (target) return { target, renamed: { ...request, ref: { ...ref, name: target.ownName } } };
  } else {
    const target =
      view.templates().find(({ ownName }) => ownName === ref.uri) ?? view.findResource(ref.uri);
    if (target) return { target, renamed: request };
  }
  throw new Fault('invalid', 'there is nothing of that name to complete', {
    reason: 'reference_not_found',
  });
}

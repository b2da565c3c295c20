import type { Static } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import { all, parsePick, type Pick, type VirtualServer } from '../aggregate/virtual-server.ts';
import type { VirtualServers } from '../aggregate/virtual-servers.ts';
import type { virtualServerRoutes as routes } from '../schemas/virtual-servers.ts';

type VirtualServerHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

type Body = Static<(typeof routes)['createVirtualServer']['schema']['body']>;

export interface VirtualServerHandlerParts {
  readonly virtualServers: VirtualServers;
  readonly url: string;
}

/** The edge of virtual servers. */
export function virtualServerHandlers({
  virtualServers,
  url,
}: VirtualServerHandlerParts): VirtualServerHandlers {
  const answer = (server: VirtualServer) => toAnswer(server, virtualServers, url);
  return {
    createVirtualServer: async ({ body, identity }) =>
      answer(await virtualServers.create(toDefinition(body), identity.subject)),
    listVirtualServers: ({ query: { limit, offset } }) => {
      const found = virtualServers.all();
      const page = found.slice(offset, offset + limit).map(answer);
      return { virtualServers: page, total: found.length, limit, offset };
    },
    readVirtualServer: ({ params }) => answer(virtualServers.require(params.virtualServerId)),
    replaceVirtualServer: async ({ params, body }) =>
      answer(await virtualServers.replace(params.virtualServerId, toDefinition(body))),
    deleteVirtualServer: async ({ params }) => ({
      id: await virtualServers.delete(params.virtualServerId),
      status: 'deleted' as const,
    }),
  };
}

function toDefinition({ name, description = '', tools, prompts, resources, lean }: Body) {
  return {
    name,
    description,
    tools: tools.map((tool) => (typeof tool === 'string' ? toPick(tool) : ownTool(tool))),
    prompts: (prompts ?? []).map((prompt) =>
      typeof prompt === 'string' ? toPick(prompt) : ownPrompt(prompt),
    ),
    resources: (resources ?? []).map((resource) =>
      typeof resource === 'string'
        ? { connection: resource, own: all }
        : { connection: resource.connection, own: resource.uri },
    ),
    isLean: lean ?? false,
  };
}

function ownTool({ connection, tool, as }: Exclude<Body['tools'][number], string>): Pick {
  return { connection, own: tool, ...(as === undefined ? {} : { as }) };
}

type OwnPrompt = Exclude<NonNullable<Body['prompts']>[number], string>;

function ownPrompt({ connection, prompt, as }: OwnPrompt): Pick {
  return { connection, own: prompt, ...(as === undefined ? {} : { as }) };
}

function toPick(text: string): Pick {
  const pick = parsePick(text);
  if (pick) return pick;
  throw new Fault('invalid', `${text} is not of the form server__name`);
}

function toAnswer(server: VirtualServer, virtualServers: VirtualServers, url: string) {
  const view = virtualServers.viewOf(server);
  const { id, name, description, createdBy, isLean } = server;
  return {
    id,
    name,
    description,
    tools: server.tools.map(({ connection, own, as }) => ({ connection, tool: own, ...named(as) })),
    prompts: server.prompts.map(({ connection, own, as }) => ({
      connection,
      prompt: own,
      ...named(as),
    })),
    resources: server.resources.map(({ connection, own }) => ({ connection, uri: own })),
    lean: isLean,
    url: `${url}/mcp/${encodeURIComponent(name)}`,
    offers: {
      tools: view.tools().map(({ listed }) => listed.name),
      prompts: view.prompts().map(({ listed }) => listed.name),
      resources: [
        ...view.resources().map(({ ownName }) => ownName),
        ...view.templates().map(({ ownName }) => ownName),
      ],
    },
    missing: [...view.missing],
    createdBy,
    createdAt: new Date(server.createdAtMs).toISOString(),
    updatedAt: new Date(server.updatedAtMs).toISOString(),
  };
}

function named(as: string | undefined) {
  return as === undefined ? {} : { as };
}

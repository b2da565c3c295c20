import { authContract } from '../auth/contract.ts';
import { chatContract } from '../chat/contract.ts';
import { gatewayContract } from '../gateway/contract.ts';
import type { Lifetime } from '../kit/lifecycle.ts';
import type { Host } from '../kit/service.ts';
import { meshContract } from '../mesh/contract.ts';
import { modelsContract } from '../models/contract.ts';
import { Collections } from './collections/collections.ts';
import { createChatSearch } from './components/ai/chat-search.ts';
import { Transformer } from './components/data/transformer.ts';
import { openComponents } from './components/table.ts';
import { createIdpTokenReader } from './components/tools/idp-token.ts';
import { createRegistryPort } from './components/tools/registry-client.ts';
import type { WorkflowConfig } from './config.ts';
import type { Definitions } from './definitions/definitions.ts';
import { requireNameable } from './definitions/drafts.ts';
import type { WorkflowEngine } from './engine/engine.ts';
import type { Approvals } from './engine/approvals.ts';
import type { Later } from './later.ts';
import { registryContract } from '../registry/contract.ts';

/** What the components ask for when they run, and not before. */
export interface LateParts {
  readonly engine: Later<WorkflowEngine>;
  readonly approvals: Later<Approvals>;
  readonly definitions: Later<Definitions>;
}

/** The components with all that they reach, and the collections that they search. */
export function openComponentParts(
  host: Host<WorkflowConfig>,
  { engine, approvals, definitions }: LateParts,
  lifetime: Lifetime,
) {
  const { config, database, egress, tracer, peers } = host;
  const gateway = host.client(gatewayContract);
  const models = host.client(modelsContract);
  const transformer = lifetime.own('the transformations', new Transformer());
  const collections = new Collections({ sql: database, models });
  const authUrl = peers.find(({ name }) => name === authContract.name)?.url ?? '';
  const components = openComponents({
    logic: {
      now: Date.now,
      approvalLink: (place) => approvals.get().linkOf(place),
      starter: () => engine.get(),
      requireNameable: (named, by) => requireNameable(definitions.get(), named, by),
    },
    data: { egress, transformer, filesRoot: config.filesRoot },
    ai: {
      gateway,
      models,
      collections,
      searchConversations: createChatSearch(host.client(chatContract)),
    },
    cms: { url: config.cmsUrl, token: config.cmsToken, basicAuth: config.cmsBasicAuth },
    tools: {
      registry: createRegistryPort(host.client(registryContract)),
      mesh: host.client(meshContract),
      idp: { apiUrl: config.idpApiUrl, readToken: createIdpTokenReader({ authUrl, tracer }) },
    },
  });
  return { components, collections };
}

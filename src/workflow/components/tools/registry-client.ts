import type { Client } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import type { registryContract } from '../../../registry/contract.ts';
import { refusedBy } from '../refused-service.ts';
import type { FoundServer, RegistryPort, ToolAnswer, ToolCall } from './registry-port.ts';

/** What flows call of the registry. */
export type RegistryCalls = Pick<
  Client<typeof registryContract>,
  'listConnections' | 'discoverConnections' | 'callConnection' | 'callCapability'
>;

type CallContext = Pick<ToolCall, 'signal' | 'parent' | 'timeoutMs'>;

/** What a call may take, for the registry. */
const timeoutMsMax = 600_000;
const serversMax = 100;

/** Tools and servers through the registry. */
export function createRegistryPort(registry: RegistryCalls): RegistryPort {
  return {
    callTool: (call) => callTool(registry, call).catch(refused),
    findServers: async (capability, options) => {
      const loadBalancing = { maxConnections: serversMax };
      const body = { capabilities: [capability], loadBalancing };
      const found = await registry.discoverConnections({ body }, optionsOf(options)).catch(refused);
      return found.connections.filter(({ type }) => type === 'server').map(toServer);
    },
  };
}

const refused = refusedBy('registry');

async function callTool(registry: RegistryCalls, call: ToolCall): Promise<ToolAnswer> {
  const { server, tool, params: given, timeoutMs, idempotencyKey } = call;
  const headers = { 'idempotency-key': idempotencyKey };
  const options = { ...optionsOf(call), headers };
  const timeout = Math.min(timeoutMsMax, Math.max(1, Math.floor(timeoutMs)));
  const body = { arguments: given, timeout };
  const answer =
    server === undefined
      ? await registry.callCapability({ params: { capability: tool }, body }, options)
      : await registry.callConnection(
          {
            params: { connectionId: await findConnection(registry, server, call) },
            body: { tool, ...body },
          },
          options,
        );
  return { result: answer.result, content: answer.content, isError: answer.isError };
}

async function findConnection(
  registry: RegistryCalls,
  server: string,
  call: CallContext,
): Promise<string> {
  const query = { name: server, type: 'server', limit: 1, offset: 0 } as const;
  // Those that are not disconnected come first, and no two of them have one name.
  const { connections } = await registry.listConnections({ query }, optionsOf(call));
  const found = connections.find(({ status }) => status !== 'disconnected');
  if (found) return found.id;
  throw new Fault('not_found', `the registry knows no server ${server}`, {
    reason: 'server_not_found',
  });
}

/** The registry ends the call itself; this is for one that does not answer at all. */
function optionsOf({ signal, parent, timeoutMs }: CallContext) {
  return { signal, parent, timeoutMs: timeoutMs + 2_000 };
}

function toServer(found: FoundServer): FoundServer {
  const { id, name, status, protocol, capabilities } = found;
  return { id, name, status, protocol, capabilities };
}

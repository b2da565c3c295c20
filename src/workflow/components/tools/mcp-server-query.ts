import { Type } from 'typebox';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import { callOptions } from '../call-options.ts';
import type { RegistryPort } from './registry-port.ts';

/** Finds MCP servers by what they can do. */
export function createMcpServerQuery(registry: Pick<RegistryPort, 'findServers'>): Component {
  return defineComponent({
    name: 'MCPServerQuery',
    group: 'tools',
    title: 'MCP servers',
    description: 'Finds the MCP servers of the registry that have a capability or a tool.',
    input: Type.Object(
      { capability: Type.String({ minLength: 1, maxLength: 256 }) },
      { examples: [{ capability: 'read_text' }] },
    ),
    output: Type.Object({
      servers: Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          status: Type.String(),
          protocol: Type.String(),
          capabilities: Type.Array(Type.String()),
        }),
      ),
      count: Type.Integer(),
    }),
    effect: 'none',
    typicalMs: 50,
    run: async ({ capability }, context) => {
      const servers = await registry.findServers(capability, callOptions(context));
      return { kind: 'done', output: { servers, count: servers.length } };
    },
  });
}

import type { Component } from '../component.ts';
import { createAgentTask, type TaskClient } from './agent-task.ts';
import { createIdpApi, type IdpOptions } from './idp-api.ts';
import { createMcpServerQuery } from './mcp-server-query.ts';
import { createMcpToolCall } from './mcp-tool-call.ts';
import type { RegistryPort } from './registry-port.ts';

export interface ToolDependencies {
  readonly registry: RegistryPort;
  /** The client of the mesh's contract. */
  readonly mesh: TaskClient;
  readonly idp: IdpOptions;
}

/** What asks tools, agents and the identity provider. */
export function toolComponents({ registry, mesh, idp }: ToolDependencies): readonly Component[] {
  return [
    createMcpToolCall(registry),
    createMcpServerQuery(registry),
    createIdpApi(idp),
    createAgentTask(mesh),
  ];
}

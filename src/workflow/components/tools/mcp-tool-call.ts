import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import type { Component } from '../component.ts';
import { defineComponent } from '../schema.ts';
import type { RegistryPort } from './registry-port.ts';
import { callOptions } from '../call-options.ts';
import { AnyKey } from '../../../kit/any-key.ts';

/** Between a server's name, which has none, and its tool's. */
const separator = '__';

/** Calls a tool of an MCP server through the registry. */
export function createMcpToolCall(registry: Pick<RegistryPort, 'callTool'>): Component {
  return defineComponent({
    name: 'MCPToolCall',
    group: 'tools',
    title: 'MCP tool',
    description:
      'Calls a tool of an MCP server that the registry knows: `server__tool`, or the bare name of a tool, for which the registry chooses a server.',
    input: Type.Object(
      {
        tool: Type.String({
          minLength: 1,
          maxLength: 256,
          description: '`server__tool`, or a bare name',
        }),
        params: Type.Optional(
          Type.Record(AnyKey, Type.Unknown(), { description: 'what the tool takes' }),
        ),
        timeout: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 600_000, description: 'milliseconds' }),
        ),
        failOnError: Type.Optional(
          Type.Boolean({
            default: false,
            description: 'fails as `TOOL_FAILED` when the tool itself says that it failed',
          }),
        ),
      },
      { examples: [{ tool: 'files__read_text', params: { path: '{{ inputs.path }}' } }] },
    ),
    output: Type.Object({
      result: Type.Unknown({ description: 'the structured content, else the text' }),
      content: Type.Array(Type.Unknown(), { description: 'content blocks as in MCP' }),
      isError: Type.Boolean({ description: 'the tool itself says that it failed' }),
    }),
    effect: 'once',
    permission: ['registry:call', 'agent:execute'],
    typicalMs: 1_000,
    run: async ({ tool, params = {}, timeout, failOnError = false }, context) => {
      const options = callOptions(context);
      const timeoutMs = Math.min(options.timeoutMs, timeout ?? Infinity);
      const { idempotencyKey } = context;
      const named = readName(tool);
      const call = { ...options, ...named, params, timeoutMs, idempotencyKey };
      const answer = await registry.callTool(call);
      if (answer.isError && failOnError) throw toolFailed(tool, answer.result);
      return { kind: 'done', output: answer };
    },
  });
}

function readName(name: string): { readonly server?: string; readonly tool: string } {
  const at = name.indexOf(separator);
  const tool = name.slice(at + separator.length);
  return at <= 0 || tool === '' ? { tool: name } : { server: name.slice(0, at), tool };
}

function toolFailed(tool: string, result: unknown): Fault {
  const words = typeof result === 'string' ? result : JSON.stringify(result);
  return new Fault('upstream', `the tool ${tool} failed: ${words.slice(0, 500)}`, {
    reason: 'tool_failed',
  });
}

import type { Tool } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import type { Connection } from '../connections/connection.ts';

const notFound = 'tool_not_found';
const changed = 'tool_changed';

/**
 * The tool as its server described it; undefined while the server was not asked yet. What is declared
 * and not there is not called. Faults `tool_changed`, `tool_not_found`.
 */
export function requireTool(connection: Connection, name: string): Tool | undefined {
  refuseQuarantined(connection, name);
  const { offer } = connection;
  if (!offer) return undefined;
  const tool = offer.tools.find((offered) => offered.name === name);
  if (tool) return tool;
  throw new Fault('not_found', 'this server has no such tool', {
    reason: notFound,
    detail: { connectionId: connection.id, tool: name },
  });
}

/** Fault `tool_changed` for a tool that is kept from being called. */
function refuseQuarantined({ id, quarantined }: Connection, tool: string): void {
  if (!quarantined.includes(tool)) return;
  throw new Fault('conflict', 'this tool is not the one that was agreed to', {
    reason: changed,
    detail: { connectionId: id, tool },
  });
}

/** Whether it is the fault `tool_not_found`. */
export function isMissingTool(error: unknown): boolean {
  return error instanceof Fault && error.reason === notFound;
}

/** Whether a call was refused here because of what the tool is, and so never sent. */
export function isRefusedTool(error: unknown): boolean {
  return isMissingTool(error) || (error instanceof Fault && error.reason === changed);
}

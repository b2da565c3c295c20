import { Server } from '@modelcontextprotocol/server';

/** The tool that is called; what it is given it answers. */
export const echoTool = 'echo';
export const echoInput = { message: 'The text says what it says.' };

const tools = [
  {
    name: echoTool,
    description: 'Answers what it was given',
    inputSchema: {
      type: 'object' as const,
      properties: { message: { type: 'string' } },
      required: ['message'],
    },
  },
];

/** An MCP server that does next to nothing. */
export function createEchoServer(): Server {
  const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: `Echo: ${String(params.arguments?.['message'])}` }],
  }));
  return server;
}

/*
 * An agent in ten lines. Start the suite with `npm start`, then, with an access token of yours:
 *
 *   MESH_TOKEN=… npx tsx examples/agent/greeter.ts
 *
 * and, from anywhere else:
 *
 *   curl -X POST http://127.0.0.1:7401/api/v1/tasks/execute -H "Authorization: Bearer $MESH_TOKEN" \
 *     -H 'Content-Type: application/json' \
 *     -d '{"targetAgent":"greeter","task":{"type":"greet","input":{"name":"Ada"}}}'
 */
import { env } from 'node:process';
import { joinMesh } from '../../src/mesh/agent.ts';

const agent = await joinMesh({
  url: env['MESH_URL'] ?? 'http://127.0.0.1:7401',
  token: env['MESH_TOKEN'] ?? '',
  agentId: 'greeter',
  capabilities: ['greet'],
  onTask: ({ input }) => ({
    text: `Hello ${typeof input['name'] === 'string' ? input['name'] : 'world'}!`,
  }),
});
process.once('SIGINT', () => void agent.leave());

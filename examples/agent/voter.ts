/*
 * An agent with keys of its own: it listens for tasks, signs its votes and proves its capability.
 *
 *   MESH_TOKEN=… npx tsx examples/agent/voter.ts
 */
import { env } from 'node:process';
import { createAgentKeys, joinMesh } from '../../src/mesh/agent.ts';

const agent = await joinMesh({
  url: env['MESH_URL'] ?? 'http://127.0.0.1:7401',
  token: env['MESH_TOKEN'] ?? '',
  agentId: 'reviewer',
  capabilities: ['code-review'],
  listen: {},
  // Of an agent that lasts, keep them: the mesh knows it by them.
  ...createAgentKeys(),
  onTask: ({ input }) => ({
    verdict: JSON.stringify(input).length < 400 ? 'short' : 'long',
  }),
  onVote: ({ task }) => ({
    vote: task.type === 'release' ? 'approve' : 'abstain',
    confidence: 0.8,
  }),
});
process.stdout.write(`${JSON.stringify(await agent.attest('code-review'))}\n`);
process.once('SIGINT', () => void agent.leave());

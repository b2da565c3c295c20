// What the mesh costs beside the bare things: a discovery among 10,000 agents, a durable registration,
// calls over gRPC with mutual TLS, the stream of activity to many, and a task that is passed on.
import { chosenDepth } from './harness/depth.ts';
import { printReport } from './harness/report.ts';
import { measureDiscovery } from './mesh/discovery.ts';
import { measureFanOut } from './mesh/fan-out.ts';
import { measureForwarding } from './mesh/forwarding.ts';
import { measureGrpc } from './mesh/grpc.ts';
import { measureRegistration } from './mesh/registration.ts';

const depth = chosenDepth();

await printReport([
  ['discovery', () => measureDiscovery(depth)],
  ['registration', () => measureRegistration(depth)],
  ['gRPC', () => measureGrpc(depth)],
  ['fan-out', () => measureFanOut(depth)],
  ['forwarding', () => measureForwarding(depth)],
]);

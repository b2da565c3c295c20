// What the foundation costs: a request, a token, a span, a start, memory, disk.
import { chosenDepth } from './harness/depth.ts';
import { measureEdge } from './foundation/edge.ts';
import { measureInstallSize } from './foundation/install-size.ts';
import { measureSpans } from './foundation/spans.ts';
import { measureStartup } from './foundation/startup.ts';
import { measureTokens } from './foundation/tokens.ts';
import { printReport } from './harness/report.ts';

const depth = chosenDepth();

await printReport([
  ['the edge', () => measureEdge(depth)],
  ['tokens', () => measureTokens(depth)],
  ['spans', () => measureSpans(depth)],
  ['starting', () => measureStartup(depth)],
  ['the installation', async () => (depth.isWhole ? [await measureInstallSize()] : [])],
]);

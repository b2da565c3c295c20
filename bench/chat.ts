// What the chat channel costs beside the bare libraries: tokens that are pushed, and sockets that are
// silent. `--only=<part>` measures one of them.
import { measureLists } from './chat/lists.ts';
import { measurePush } from './chat/push.ts';
import { measureSearch } from './chat/search.ts';
import { measureTurns } from './chat/turns.ts';
import { quick, whole } from './foundation/depth.ts';
import { printReport, type Part } from './harness/report.ts';

const depth = process.argv.includes('--quick') ? quick : whole;
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice('--only='.length);

const parts: readonly Part[] = [
  ['turns', () => measureTurns(depth)],
  ['push', () => measurePush(depth)],
  ['search', () => measureSearch(depth)],
  ['lists', () => measureLists(depth)],
];

await printReport(parts.filter(([what]) => only === undefined || what === only));

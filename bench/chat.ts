// What the chat channel costs beside the bare libraries: tokens that are pushed, and sockets that are
// silent.
import { measureLists } from './chat/lists.ts';
import { measurePush } from './chat/push.ts';
import { measureSearch } from './chat/search.ts';
import { measureTurns } from './chat/turns.ts';
import { chosenDepth } from './harness/depth.ts';
import { printReport } from './harness/report.ts';

const depth = chosenDepth();

await printReport([
  ['turns', () => measureTurns(depth)],
  ['push', () => measurePush(depth)],
  ['search', () => measureSearch(depth)],
  ['lists', () => measureLists(depth)],
]);

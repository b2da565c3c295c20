// Runs one loop, named by the argument, as often as its parent says.
import { serveOrders } from '../harness/measured-child.ts';
import { spanLoops } from './span-loops.ts';
import { tokenLoops } from './token-loops.ts';

const name = process.argv[2] ?? '';
const prepareLoop = { ...tokenLoops, ...spanLoops }[name];
if (!prepareLoop) throw new Error(`there is no loop ${name}`);
serveOrders({}, await prepareLoop());

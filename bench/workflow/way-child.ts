import { serveOrders } from '../harness/measured-child.ts';
import { ways } from './ways.ts';

/** `callers` each wait for their execution before they start the next. */
const [name = '', callers = '20', url] = process.argv.slice(2);
const open = ways[name];
if (!open) throw new Error(`there is no way ${name}`);
const runOne = await open(url);

serveOrders('ready', async (operations) => {
  let begun = 0;
  const call = async () => {
    while (begun < operations) {
      begun += 1;
      await runOne();
    }
  };
  await Promise.all(Array.from({ length: Number(callers) }, call));
});

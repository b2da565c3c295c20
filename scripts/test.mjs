// `npm test`: prepares the clone, then runs the tests but for the slow ones, which `npm run test:slow`
// runs. Arguments go to vitest; with one that names tests, those run, slow or not. Closes with the counts
// on a line of their own.
import { prepare } from './prepare.mjs';
import { runTests } from './vitest.mjs';

prepare();

/** Parts of the paths of tests that start processes of their own, or wait for some to die. */
const slow = ['test/journeys/', 'test/faults/', '.slow.test.ts'];

const { status, counts } = runTests(asked(process.argv.slice(2)));
console.log(counts);
process.exit(status);

function asked(words) {
  if (words.length === 0) return { parameters: slow.map((part) => `--exclude=**/${globOf(part)}`) };
  if (words[0] === '--slow') return { filter: [...slow, ...words.slice(1)] };
  return { filter: words };
}

function globOf(part) {
  return part.endsWith('/') ? `${part}**` : `*${part}`;
}

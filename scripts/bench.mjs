// `npm run bench -- <name>… [--quick]`: prepares the clone, compiles the benchmarks with the build's own
// settings, installs what they compare against, and runs those that are named, or `all`.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyAssets, prepare } from './prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);

const words = process.argv.slice(2);
const flags = words.filter((word) => word.startsWith('--'));
const named = words.filter((word) => !word.startsWith('--'));
const known = readdirSync(at('bench'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length));
const chosen = named.length === 1 && named[0] === 'all' ? known : named;
if (chosen.length === 0 || chosen.some((name) => !known.includes(name)))
  fail(`usage: npm run bench -- <name>… [--quick], of: ${known.join(', ')}, or all`);

prepare();
compile();
if (!arePeersCurrent()) installPeers();
const failed = chosen.filter((name) => measure(name) !== 0);
if (failed.length > 0 && chosen.length > 1) fail(`not measured: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);

function measure(name) {
  const program = at('dist', 'bench', 'bench', `${name}.js`);
  const options = { cwd: root, stdio: 'inherit', env: cleanEnvironment() };
  return spawnSync(process.execPath, [program, ...flags], options).status;
}

/** Compiles `bench/` and what it imports of `src/` into `dist/bench/`. */
function compile() {
  rmSync(at('dist', 'bench'), { recursive: true, force: true });
  const tsc = at('node_modules', 'typescript', 'bin', 'tsc');
  run(process.execPath, [tsc, '-p', at('bench', 'tsconfig.json')], 'the benchmarks do not compile');
  copyAssets(at('dist', 'bench', 'src'));
  // Found beside `src/`, as in the working tree.
  cpSync(at('proto'), at('dist', 'bench', 'proto'), { recursive: true });
}

function arePeersCurrent() {
  const installed = at('bench', 'peers', 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const locked = readPackages(at('bench', 'peers', 'package-lock.json'));
  const present = readPackages(installed);
  // What is optional may be for another platform.
  return Object.entries(locked).every(
    ([path, { version, optional }]) =>
      path === '' || present[path]?.version === version || (optional && !present[path]),
  );
}

function installPeers() {
  process.stderr.write('bench: installing what is compared against …\n');
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['--prefix', at('bench', 'peers'), ...options], 'the peers cannot be installed');
}

/** NODE_ENV and the suite's own settings would change what is measured. */
function cleanEnvironment() {
  const isForeign = /^(NODE_ENV$|ENNEAD_|RATE_LIMIT_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !isForeign.test(key)));
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

function run(command, args, sentence) {
  const isWindows = process.platform === 'win32';
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (status !== 0) fail(sentence);
}

function fail(sentence) {
  process.stderr.write(`bench: ${sentence}\n`);
  process.exit(1);
}

// `node scripts/conformance.mjs [--verbose]`: installs the MCP conformance suites beside the project,
// puts their fixture behind the registry's aggregated endpoint and prints what each suite found. It
// ends with 1 when a scenario fails that `expected` does not name, or one passes that it does.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';

const root = fileURLToPath(new URL('..', import.meta.url));
const suites = join(root, 'bench', 'conformance', 'suites');
const node = join(suites, 'node_modules', 'node', 'bin', 'node');

/** Not forwarded by an aggregated server without sessions; docs/registry.md says why of each. */
const expected = {
  'conformance-2025': [
    'logging-set-level',
    'tools-call-with-logging',
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
  'conformance-2026': [
    'server-stateless',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
  ],
};

/** Extensions that the registry does not have, and scenarios that the suite itself does not score. */
const unscored = /^tasks-|^http-custom-header-server-validation$/;

if (!existsSync(node)) install();
const folder = await mkdtemp(join(tmpdir(), 'ennead-conformance-'));
const front = spawn(
  process.execPath,
  ['--import', 'tsx', join(root, 'bench', 'conformance', 'front.ts')],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const [url] = await once(createInterface(front.stdout), 'line');
  const isFine = [
    judge('conformance-2025', ['server', '--url', url]),
    judge('conformance-2026', ['server', '--url', url, '--requirements', '2026-07-28']),
  ];
  process.exitCode = isFine.every(Boolean) ? 0 : 1;
} finally {
  front.kill();
  await once(front, 'exit');
  await rm(folder, { recursive: true });
}

function judge(suite, parameters) {
  const program = join(suites, 'node_modules', suite, 'dist', 'index.js');
  // Suites of Node 22, which write their results where they stand.
  const { stdout } = spawnSync(node, [program, ...parameters], { cwd: folder, encoding: 'utf8' });
  if (process.argv.includes('--verbose')) process.stdout.write(stdout);
  const found = [...stdout.matchAll(/^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed/gmu)].filter(
    ([, , name]) => !unscored.test(name),
  );
  const sum = (column) => found.reduce((total, row) => total + Number(row[column]), 0);
  const failed = found.filter(([, mark]) => mark === '✗').map(([, , name]) => name);
  const passed = found.length - failed.length;
  console.log(
    `${suite}: ${passed} of ${found.length} scenarios, ${sum(3)} of ${sum(3) + sum(4)} checks passed`,
  );
  const unexpected = failed.filter((name) => !expected[suite].includes(name));
  const stale = expected[suite].filter((name) => !failed.includes(name));
  for (const name of unexpected) console.log(`  failed: ${name}`);
  for (const name of stale) console.log(`  no longer fails: ${name}`);
  return found.length > 0 && unexpected.length + stale.length === 0;
}

function install() {
  process.stderr.write('conformance: installing the suites …\n');
  const options = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['--prefix', suites, ...options], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the suites cannot be installed');
  // The package is only a name for the binary of this platform, which its script puts in place.
  const place = join(suites, 'node_modules', 'node');
  spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: place, stdio: 'inherit' });
}

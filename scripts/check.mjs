// `npm run check`: everything that must hold before a change lands, quickest first; stops at the first failure.
import { spawnSync } from 'node:child_process';
import { prepare } from './prepare.mjs';

prepare();
const steps = ['types', 'lint', 'format:check', 'unused', 'test'];
for (const step of steps) {
  console.log(`check: ${step}`);
  const { status } = spawnSync('npm', ['run', '--silent', step], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.log(`check: ${step} failed`);
    process.exit(1);
  }
}

import type { OutputSecrets } from '../journal/output-secrets.ts';
import { writeOutput, readOutput } from '../journal/outputs.ts';
import type { Step } from '../walk/walk-frame.ts';

/** An output for the journal, as the journal would give it back, and as it is told. */
export function writtenOutput(step: Step, output: unknown, secrets: OutputSecrets | undefined) {
  if (!secrets) {
    const text = writeOutput(output);
    const value = readOutput(text);
    return { text, value, shown: value };
  }
  secrets.note(step.shape.planned.component, output);
  const text = secrets.seal(output);
  return { text, value: secrets.open(text), shown: secrets.hide(output) };
}

import type { Finding } from '../../tasks/task.ts';

/** What models are told of the form. */
export const findingsForm = [
  'Answer with JSON alone, an object of this form:',
  '{"summary": "one or two sentences", "findings": [{"file": "src/a.ts", "line": 12,',
  '"severity": "error", "message": "what is wrong and what to do"}]}',
  '`severity` is info, warning or error; `line` is left out where there is none; no findings: [].',
].join('\n');

export interface Review {
  readonly summary: string;
  readonly findings: readonly Finding[];
}

const findingsMax = 200;
const messageCharsMax = 2_000;
const severities: ReadonlySet<unknown> = new Set(['info', 'warning', 'error']);

/** The review in a model's answer, or what is wrong with it, in words for the model. */
export function readReview(text: string): Review | string {
  const value = parse(text);
  if (!isObject(value)) return 'The answer is not a JSON object.';
  const { findings = [], summary = '' } = value;
  if (typeof summary !== 'string') return 'summary is not a text.';
  if (!Array.isArray(findings)) return 'findings is not a list.';
  if (findings.length > findingsMax) return `findings has more than ${findingsMax} entries.`;
  const read: Finding[] = [];
  for (const [index, one] of findings.entries()) {
    const flaw = flawOf(one);
    if (flaw !== undefined) return `findings[${index}]${flaw}`;
    const { file, line, severity, message } = one as Finding;
    const isPlaced = line !== undefined && line !== null;
    const shown = message.slice(0, messageCharsMax);
    read.push({ file, ...(isPlaced ? { line } : {}), severity, message: shown });
  }
  return { summary: summary.slice(0, messageCharsMax), findings: read };
}

function flawOf(one: unknown): string | undefined {
  if (!isObject(one)) return ' is not an object.';
  const { file, line, severity, message } = one;
  if (typeof file !== 'string' || file === '') return '.file is not a path.';
  const isLine =
    line === undefined || line === null || (Number.isInteger(line) && Number(line) > 0);
  if (!isLine) return '.line is not a whole number above 0.';
  if (!severities.has(severity)) return '.severity is none of info, warning and error.';
  if (typeof message !== 'string' || message === '') return '.message is not a text.';
  return undefined;
}

/** Models like to put JSON into a fence, or a sentence before it. */
function parse(text: string): unknown {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start === -1 || end < start) return undefined;
  try {
    return JSON.parse(text.slice(start, end + 1));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
